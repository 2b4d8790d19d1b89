#include "src/compare/conclusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ako/mode_table.h"
#include "src/compare/figure_text.h"
#include "src/compare/lead.h"

namespace ako {

namespace {

constexpr std::string_view own_mode = mode_table::ako.word;
/// Less than this is what the test set cannot tell: one sample of 10,000.
constexpr double points_min = 0.01;

double seconds_of(const Outcome& outcome, std::size_t target_index) {
    return outcome.targets[target_index].seconds->median;
}

std::string time_text(const Outcome& outcome, std::size_t target_index) {
    return seconds_text(seconds_of(outcome, target_index)) + mark_of(outcome);
}

std::string named(const Outcome& outcome, std::size_t target_index) {
    return fmt::format("{} ({})", outcome.candidate.contender, time_text(outcome, target_index));
}

/// The best contender of the mode ako; nullptr: there is none here.
const Outcome* own_outcome(const std::vector<Outcome>& outcomes, const Setting& setting,
                           const Rate& rate, std::size_t target_index) {
    const std::vector<const Outcome*> here = best_at(outcomes, setting, rate, target_index);
    std::vector<const Outcome*> own;
    std::vector<SeedCurves> curves;
    for (const Outcome* outcome : here) {
        if (outcome->candidate.mode != own_mode) continue;
        own.push_back(outcome);
        curves.push_back(outcome->curves());
    }
    if (own.empty()) return nullptr;
    return own[ranking(curves, {own.front()->targets[target_index].target}).front()];
}

/// "1.8 times as fast as"; near 1 with a digit more.
std::string times_text(double ratio) {
    return fmt::format("{:.{}f} times", ratio, ratio < 1.2 ? 2 : 1);
}

/// How far behind the first Ako is; empty: it is first or next, or is not compared.
std::string behind_text(const Lead& lead, const Outcome* own, std::size_t target_index) {
    if (own == nullptr || own == lead.first || own == lead.next) return "";
    const std::string& name = own->candidate.contender;
    if (!own->targets[target_index].seconds)
        return fmt::format(", and {} does not get there", name);
    const double ratio = seconds_of(*own, target_index) / seconds_of(*lead.first, target_index);
    return fmt::format(", and {} takes {} as long", name, times_text(ratio));
}

bool holds(const std::vector<const Outcome*>& outcomes, const Outcome* one) {
    return std::find(outcomes.begin(), outcomes.end(), one) != outcomes.end();
}

bool has_alone(const std::vector<const Outcome*>& outcomes) {
    return std::any_of(outcomes.begin(), outcomes.end(),
                       [](const Outcome* one) { return one->candidate.alone(); });
}

/// "local-sgd (18.0 s) and ako (19.0 s) cannot be told apart, ..".
std::string level_text(const std::vector<Outcome>& outcomes, const Lead& lead, const Outcome* own,
                       std::size_t target_index) {
    std::string names = named(*lead.first, target_index);
    for (const Outcome* other : lead.level) {
        const bool known = other->targets[target_index].seconds.has_value();
        names += " and " + (known ? named(*other, target_index) : other->candidate.contender);
    }
    std::string text = names + " cannot be told apart, for their ranges overlap";
    if (lead.by_composition)
        text +=
            fmt::format(", or would if a composed time were off by {:g} %", composed_margin * 100);
    const bool alone = lead.first->candidate.alone() || has_alone(lead.level);
    if (const auto ratio = speed_up(outcomes, *lead.first, target_index); ratio && !alone)
        text += fmt::format(", and {} is {} as fast as one machine alone",
                            lead.first->candidate.contender, times_text(*ratio));
    const bool among = own == lead.first || holds(lead.level, own);
    return text + (among ? "" : behind_text(lead, own, target_index));
}

/// "ako is first, in 19.0 s, 1.3 times as fast as the next (local-sgd), ..".
std::string first_text(const std::vector<Outcome>& outcomes, const Lead& lead, const Outcome* own,
                       std::size_t target_index) {
    const Outcome& first = *lead.first;
    std::string text = fmt::format("{} is first, in {}", first.candidate.contender,
                                   time_text(first, target_index));
    if (lead.next != nullptr)
        text += fmt::format(
            ", {} as fast as the next ({}{})",
            times_text(seconds_of(*lead.next, target_index) / seconds_of(first, target_index)),
            lead.next->candidate.contender, mark_of(*lead.next));
    const bool alone =
        first.candidate.alone() || (lead.next != nullptr && lead.next->candidate.alone());
    if (const auto ratio = speed_up(outcomes, first, target_index); ratio && !alone)
        text += fmt::format(", {} as fast as one machine alone", times_text(*ratio));
    return text + behind_text(lead, own, target_index);
}

/// " (one seed of ring: how much runs differ is not known)"; empty: all have several.
std::string seeds_text(const Lead& lead) {
    if (lead.several_seeds && lead.open.empty()) return "";
    std::string names;
    if (lead.several_seeds) {
        for (const Outcome* one : lead.open)
            names += (names.empty() ? " of " : ", ") + one->candidate.contender;
    } else if (lead.open.empty()) {
        names = " of " + lead.first->candidate.contender;
    }
    return fmt::format(" (one seed{}: how much runs differ is not known)", names);
}

/// What is said of one rate: "at 50 Mbit/s ako is first, in 19.0 s, ..".
std::string clause(const std::vector<Outcome>& outcomes, const Setting& setting, const Rate& rate,
                   std::size_t target_index) {
    const std::string where =
        rate == Rate{} ? std::string("with no limit of the rate ") : "at " + rate.text() + " ";
    const Lead lead = lead_at(outcomes, setting, rate, target_index);
    if (lead.first == nullptr) return where + "nobody gets there";
    const Outcome* own = own_outcome(outcomes, setting, rate, target_index);
    return where +
           (lead.level.empty() ? first_text(outcomes, lead, own, target_index)
                               : level_text(outcomes, lead, own, target_index)) +
           seeds_text(lead);
}

/// What the seeds say of a difference between two final accuracies.
std::string sureness_text(const Spread& one, const Spread& other) {
    if (one.count < 2 || other.count < 2)
        return " (of one seed: how much runs differ is not known)";
    const bool overlap = one.low <= other.high && other.low <= one.high;
    return overlap ? ", which their ranges over the seeds do not tell apart" : "";
}

/// "; at the end ako is at most 0.42 points below the most accurate".
std::string quality_text(const Plan& plan, const std::vector<Outcome>& outcomes,
                         const Setting& setting) {
    std::optional<double> most;
    std::string name, sureness;
    for (const Outcome& outcome : outcomes) {
        if (outcome.candidate.mode != own_mode || outcome.setting != setting || !outcome.best)
            continue;
        const std::optional<double> lost = accuracy_lost(outcomes, outcome);
        if (!lost || (most && *most >= *lost)) continue;
        most = lost;
        name = outcome.candidate.contender;
        sureness = sureness_text(*outcome.final_accuracy,
                                 *most_accurate(outcomes, outcome)->final_accuracy);
    }
    if (!most) return "";
    const double points = *most * 100;
    if (points < points_min)
        return fmt::format("; at the end nobody is more accurate than {}", name);
    return fmt::format("; at the end {} is {}{:.2f} points below the most accurate{}", name,
                       plan.rates.size() > 1 ? "at most " : "", points, sureness);
}

}  // namespace

std::string conclusion(const Plan& plan, const std::vector<Outcome>& outcomes,
                       const Setting& setting) {
    std::optional<std::size_t> target;
    for (std::size_t k = 0; k < plan.target_accuracy.size(); ++k) {
        for (const Rate& rate : plan.rates) {
            if (lead_at(outcomes, setting, rate, k).first != nullptr) target = k;
        }
    }
    const std::string quality = quality_text(plan, outcomes, setting);
    if (!target) {
        const char* none =
            plan.target_accuracy.empty() ? "no target was set" : "nobody reached a target";
        return fmt::format("With {} {}{}.", setting.text(), none, quality);
    }
    std::string text;
    for (const Rate& rate : plan.rates)
        text += (text.empty() ? "" : "; ") + clause(outcomes, setting, rate, *target);
    const bool composed = text.find(composed_mark) != std::string::npos;
    return fmt::format("To {:g} % test accuracy with {}: {}{}.{}",
                       plan.target_accuracy[*target] * 100, setting.text(), text, quality,
                       composed ? " *: composed, of rounds at another rate and of the time that a "
                                  "round took in one run at this one."
                                : "");
}

}  // namespace ako
