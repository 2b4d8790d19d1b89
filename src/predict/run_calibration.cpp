// See run_calibration.h.
#include "src/predict/run_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "src/config/cluster_file.h"
#include "src/predict/network_digest.h"
#include "src/results/training_figures.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {

namespace {

/// A run as its peers saw it, in the mean over those that train.
struct RunSeen {
    std::string folder;
    Settings settings;
    double cpu_s = 0;    ///< processor of a round; likewise the next
    double round_s = 0;  ///< by the clock
    double sent = 0;     ///< bytes
    double taken = 0;
    double partitions = 0;

    bool alone() const {
        return settings.peers.size() == 1 || entry_of(settings.exchange).is_alone();
    }
};

RunSeen read_seen(const std::string& folder) {
    RunSeen seen;
    seen.folder = folder;
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
            seen.cpu_s += figures->cpu_ms_per_round / 1e3;
            seen.round_s += figures->train_seconds / rounds;
            seen.sent += figures->egress_bytes_per_round;
            seen.taken += figures->ingress_bytes_per_round;
            seen.partitions += figures->partitions;
        }
        if (count == 0)
            throw StartupError(folder + ": no peer of this run has trained",
                               "name the folder of a run that did, such as runs/latest");
        for (double* figure :
             {&seen.cpu_s, &seen.round_s, &seen.sent, &seen.taken, &seen.partitions})
            *figure /= count;
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
    const double cores = run.cpu_s / run.round_s;
    if (cores >= limited_below) return run.cpu_s;
    return run.cpu_s * (1 - std::min(0.9, profile.period_lost_s / (cores * period_s)));
}

double expected_alone(const MachineProfile& profile, const RunSeen& run) {
    return profile.gradient_of(run.settings.training.batch.local).seconds + profile.round_s;
}

// A run that was held to a quota tells what is lost with every period, others how fast it really
// is.
void take_alone(MachineProfile& profile, const RunSeen& run, double period_s) {
    const double cores = run.cpu_s / run.round_s;
    const double factor = run.cpu_s / expected_alone(profile, run);
    if (cores < limited_below && factor > 1) {
        profile.period_lost_s = (1 - 1 / factor) * cores * period_s;
        return;
    }
    for (GradientProfile& gradient : profile.gradients) {
        gradient.seconds *= factor;
        gradient.least *= factor;
        for (GradientStep& step : gradient.steps) step.seconds *= factor;
    }
    profile.round_s *= factor;
}

void take_exchange(MachineProfile& profile, const RunSeen& run, double period_s) {
    const ModeEntry& entry = entry_of(run.settings.exchange);
    const std::string word(entry.word);
    ExchangeProfile exchange = profile.exchange_of(word);
    const double extra =
        std::max(0.0, useful(profile, run, period_s) - expected_alone(profile, run));
    const double bytes = run.sent + run.taken;
    if (bytes == 0) return;
    const double expected = exchange.round_s + exchange.s_per_byte * bytes;
    if (entry.arrivals == Arrivals::into_rows && expected > 0) {
        exchange.round_s *= extra / expected;
        exchange.s_per_byte *= extra / expected;
        const auto others = static_cast<double>(run.settings.peers.size() - 1);
        const double plain = 4 * others * static_cast<double>(profile.parameter_count);
        if (run.partitions > 0) exchange.bytes_share = run.sent * run.partitions / plain;
    } else {
        exchange.s_per_byte = std::max(0.0, extra - exchange.round_s) / bytes;
        double said = 0;
        for (const SentBytes& sent : mode_costs(run.settings, profile.parameter_count).sent)
            said = std::max(said, sent.per_round());
        if (said > 0) exchange.bytes_share = run.sent / said;
    }
    profile.exchange[word] = exchange;
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
    std::stable_sort(runs.begin(), runs.end(),
                     [](const RunSeen& a, const RunSeen& b) { return a.alone() && !b.alone(); });
    for (const RunSeen& run : runs)
        run.alone() ? take_alone(profile, run, period_s) : take_exchange(profile, run, period_s);
    if (!runs.empty()) profile.measured_by = fmt::format("{} runs", runs.size());
}

}  // namespace ako
