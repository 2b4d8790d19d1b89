// See run_calibration.h.
#include "src/predict/run_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "src/config/cluster_file.h"
#include "src/predict/network_digest.h"
#include "src/predict/run_figures.h"
#include "src/results/training_figures.h"

namespace ako {

namespace {

/// A run as its peers saw it, in the mean over those that train.
struct RunSeen : RoundFigures {
    Settings settings;

    bool alone() const {
        return settings.peers.size() == 1;  // peers of one machine would slow each other
    }
};

constexpr std::array figures_of_round = {&RoundFigures::cpu_s, &RoundFigures::round_s,
                                         &RoundFigures::sent, &RoundFigures::taken,
                                         &RoundFigures::partitions};

RunSeen read_seen(const std::string& folder) {
    RunSeen seen;
    seen.settings = read_cluster_file(folder + "/config.yaml", {});
    std::ifstream in(folder + "/summary.json");
    try {
        const auto json = nlohmann::ordered_json::parse(in);
        double count = 0;
        for (const auto& peer : json.at("peers")) {
            const auto figures = figures_from(peer);
            const double rounds = peer.at("rounds");
            if (!figures || rounds == 0) continue;
            ++count;
            const RoundFigures round = round_figures(*figures, rounds);
            for (const auto figure : figures_of_round) seen.*figure += round.*figure;
        }
        if (count == 0)
            throw StartupError(folder + ": no peer of this run has trained",
                               "name the folder of a run that did, such as runs/latest");
        for (const auto figure : figures_of_round) seen.*figure /= count;
        // With several threads a profile has what the clock showed.
        seen.cpu_s /= std::max(1U, seen.settings.training.threads);
    } catch (const nlohmann::json::exception& error) {
        throw StartupError(fmt::format("{}/summary.json: {}", folder, error.what()),
                           "name the folder of a run that has ended, such as runs/latest");
    }
    return seen;
}

/// Below so much of a processor a run was held to a quota.
constexpr double limited_below = 0.9;

/// Processor time of a round that brought something.
double useful(const MachineProfile& profile, const RunSeen& run, double period_s) {
    if (run.cores() >= limited_below) return run.cpu_s;
    return run.cpu_s * (1 - std::min(0.9, profile.period_lost_s / (run.cores() * period_s)));
}

double expected_alone(const MachineProfile& profile, const RunSeen& run) {
    return profile.gradient_of(run.settings.training.batch.local).seconds + profile.round_s;
}

void scale_computing(MachineProfile& profile, double factor) {
    for (GradientProfile& gradient : profile.gradients) {
        gradient.seconds *= factor;
        gradient.least *= factor;
        for (GradientStep& step : gradient.steps) step.seconds *= factor;
    }
    profile.round_s *= factor;
}

// Of each period of a quota of c processors so much is lost that processor time is G / (1 - lost /
// (c period)), where G is what computing takes. With a = time / (c period) that is the line time =
// G + lost a, which goes through runs with two quotas or more; one alone tells it only beside the
// profile.
void take_alone(MachineProfile& profile, const std::vector<RunSeen>& runs, double period_s) {
    double count = 0, a = 0, aa = 0, time = 0, a_time = 0;
    for (const RunSeen& run : runs) {
        const double taken = run.cpu_s / expected_alone(profile, run);
        const double slope = run.cores() < limited_below ? taken / (run.cores() * period_s) : 0;
        count += 1;
        a += slope;
        aa += slope * slope;
        time += taken;
        a_time += slope * taken;
    }
    if (count == 0) return;
    const double spread = count * aa - a * a;
    // Below this all had the same quota.
    constexpr double spread_min = 0.01;
    if (spread > spread_min * count * aa) {
        const double lost = std::max(0.0, (count * a_time - a * time) / spread);
        profile.period_lost_s = lost;
        scale_computing(profile, (time - lost * a) / count);
    } else if (a > 0 && time > count) {
        profile.period_lost_s = (time - count) / a;
    } else {
        scale_computing(profile, time / count);
    }
}

void take_exchange(MachineProfile& profile, const RunSeen& run, double period_s) {
    const ModeEntry& entry = entry_of(run.settings.exchange);
    const std::string word(entry.word);
    ExchangeProfile exchange = profile.exchange_of(word);
    const double extra =
        std::max(0.0, useful(profile, run, period_s) - expected_alone(profile, run));
    const double bytes = run.bytes();
    if (bytes == 0) return;
    const double expected = exchange.round_s + exchange.s_per_byte * bytes;
    if (entry.arrivals == Arrivals::into_rows && expected > 0) {
        exchange.round_s *= extra / expected;
        exchange.s_per_byte *= extra / expected;
        const double share = share_of_rows(run, run.settings.peers.size(), profile.parameter_count);
        if (share > 0) exchange.bytes_share = share;
    } else {
        // A byte takes what it took over loopback, at most; the rest comes with every round.
        exchange.s_per_byte = std::min(exchange.s_per_byte, extra / bytes);
        exchange.round_s = extra - exchange.s_per_byte * bytes;
    }
    profile.exchange[word] = exchange;
}

/// Runs alike are one run, which is their mean.
void merge(std::vector<RunSeen>& runs) {
    std::vector<RunSeen> merged;
    std::vector<double> counts;
    for (RunSeen& run : runs) {
        const auto like = std::find_if(merged.begin(), merged.end(), [&](const RunSeen& one) {
            return one.settings.exchange == run.settings.exchange &&
                   one.settings.peers.size() == run.settings.peers.size() &&
                   one.settings.training.batch == run.settings.training.batch &&
                   std::abs(one.cores() - run.cores()) < 0.2 * one.cores();
        });
        if (like == merged.end()) {
            merged.push_back(std::move(run));
            counts.push_back(1);
            continue;
        }
        const double count = ++counts[static_cast<std::size_t>(like - merged.begin())];
        for (const auto figure : figures_of_round)
            (*like).*figure += (run.*figure - (*like).*figure) / count;
    }
    runs = std::move(merged);
}

}  // namespace

void calibrate(MachineProfile& profile, const std::vector<std::string>& run_folders,
               double period_s) {
    std::vector<RunSeen> runs;
    for (const std::string& folder : run_folders) {
        runs.push_back(read_seen(folder));
        if (network_digest(runs.back().settings) != profile.network)
            throw StartupError(
                folder + ": a run of another network, or with other threads, than the profile's",
                "profile that network: ako profile " + folder + "/config.yaml -o FOLDER");
    }
    const std::size_t count = runs.size();
    merge(runs);
    const auto others = std::stable_partition(runs.begin(), runs.end(),
                                              [](const RunSeen& run) { return run.alone(); });
    take_alone(profile, {runs.begin(), others}, period_s);
    for (auto run = others; run != runs.end(); ++run) take_exchange(profile, *run, period_s);
    if (!runs.empty()) profile.measured_by = fmt::format("{} runs", count);
}

}  // namespace ako
