#include "src/compare/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace ako {

namespace {

/// FNV-1a, 64 bits: names of folders, not secrets.
std::uint64_t hash(const std::string& text) {
    std::uint64_t value = 14695981039346656037ULL;
    for (const char letter : text) {
        value ^= static_cast<unsigned char>(letter);
        value *= 1099511628211ULL;
    }
    return value;
}

constexpr const char* warm_up_key = "training.schedule.warm_up";
/// A shorter run that warms up for more of its time than this shows too little of what comes after.
constexpr double warm_up_max = 0.5;

/// A warm-up is a share of the run. In a short run that is to choose for whole ones it must not be
/// fewer rounds than there, or high rates diverge which whole runs bear.
double screening_warm_up(const Plan& plan, const Cell& cell) {
    const double whole =
        number_of(plan, cell.candidate.variant, warm_up_key, plan.defaults.warm_up);
    return std::max(whole, std::min(warm_up_max, whole * plan.epochs / cell.epochs));
}

}  // namespace

std::string Candidate::text() const {
    const std::string words = variant_text(variant);
    return fmt::format("{}{}{}, learning rate {}", contender, words.empty() ? "" : ", ", words,
                       learning_rate);
}

std::string Setting::text() const {
    return fmt::format("{} {}, batch {}", machines, machines == 1 ? "machine" : "machines",
                       batch_per_peer);
}

std::string Cell::text() const {
    const char* what = part == Part::screening ? ", screening"
                       : part == Part::timing  ? ", round time only"
                                               : "";
    const std::string lost =
        loss ? fmt::format(", {} killed after {:g} s", peer_name(loss->machine), loss->after_s)
             : "";
    return fmt::format("{}, {}, {}, seed {}, {:.4g} {}{}{}", candidate.text(), setting.text(),
                       rate.text(), seed, epochs, epochs == 1 ? "epoch" : "epochs", what, lost);
}

std::string Cell::folder_name(const std::string& settings_text) const {
    std::string name = fmt::format("{}-n{}-{}mbit-seed{}", candidate.contender, setting.machines,
                                   rate.short_text(), seed);
    for (char& letter : name) {
        const bool plain =
            std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '.';
        if (!plain) letter = '_';
    }
    return fmt::format("{}-{:016x}", name.substr(0, 80), hash(text() + "\n" + settings_text));
}

std::vector<std::string> Cell::overrides(const Plan& plan) const {
    std::vector<std::string> list;
    const auto set = [&list](const std::string& key, const auto& value) {
        list.push_back(fmt::format("{}={}", key, value));
    };
    set("run", plan.name);
    set("exchange.link_limits", "[]");
    set("exchange.link_mbit", "null");
    set("exchange.egress_mbit_max", "null");
    set("training.target_accuracy", "null");
    set("training.checkpoint_every", "0");
    // Nobody computes less than the others while it trains because it evaluates.
    set("training.evaluate", "after");
    for (const auto& [key, value] : plan.settings) set(key, value);
    set("exchange.mode", candidate.mode);
    for (const auto& [key, value] : candidate.variant) set(key, value);
    set("training.learning_rate", candidate.learning_rate);
    set("training.batch.local", setting.batch_per_peer);
    set("training.epochs", epochs);
    set("training.evaluate_every", evaluate_every);
    set("seed", seed);
    if (part == Part::screening) set(warm_up_key, screening_warm_up(plan, *this));
    // What the cluster file says of several peers is not for one.
    if (candidate.alone()) set("exchange.start_peers_min", "majority");
    return list;
}

Setting setting_of(const Candidate& candidate, const Setting& setting) {
    return candidate.alone() ? Setting{1, setting.batch_per_peer} : setting;
}

Rate rate_of(const Candidate& candidate, const Rate& rate) {
    return candidate.alone() ? Rate{} : rate;
}

double number_of(const Plan& plan, const Variant& variant, const std::string& key,
                 double otherwise) {
    std::string text = value_of(variant, key);
    if (text.empty()) text = value_of(plan.settings, key);
    double number = otherwise;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::vector<Setting> settings_of(const Plan& plan) {
    std::vector<Setting> settings;
    for (const std::size_t machines : plan.machines) {
        for (const std::size_t batch : plan.batch_per_peer) settings.push_back({machines, batch});
    }
    return settings;
}

std::vector<Candidate> candidates_of(const Plan& plan, const Contender& contender,
                                     const Setting& setting) {
    // The rates in the middle of the grid first: if the time for screening ends early, they are
    // the likelier ones.
    std::vector<double> rates = plan.learning_rates;
    const double middle = static_cast<double>(rates.size() - 1) / 2;
    std::vector<std::size_t> order(rates.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(), [middle](std::size_t left, std::size_t right) {
        return std::abs(static_cast<double>(left) - middle) <
               std::abs(static_cast<double>(right) - middle);
    });
    std::vector<Candidate> candidates;
    for (const std::size_t k : order) {
        for (const Variant& variant : variants_for(contender, setting.machines))
            candidates.push_back({contender.name, contender.mode, variant, rates[k]});
    }
    return candidates;
}

std::string peer_name(std::size_t machine) {
    if (machine < 26) return std::string(1, static_cast<char>('a' + machine));
    return fmt::format("p{}", machine + 1);
}

}  // namespace ako
