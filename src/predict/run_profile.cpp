// See run_profile.h.
#include "src/predict/run_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <system_error>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "ako/network.h"
#include "models/catalog.h"
#include "models/safetensors.h"
#include "src/config/cluster_file.h"
#include "src/predict/network_digest.h"
#include "src/predict/run_figures.h"
#include "src/results/metrics_line.h"
#include "src/results/number_text.h"
#include "src/results/peer_result.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

/// What profiles of machines have, in the middle (experiments/oracle): of modes that exchange
/// buckets, and of rows.
constexpr ExchangeProfile usual_buckets{.s_per_byte = 6e-10, .bytes_share = 1, .round_s = 4e-4};
constexpr ExchangeProfile usual_rows{.s_per_byte = 4e-9, .bytes_share = 0.3, .round_s = 1e-3};
constexpr double usual_spread = 0.04;
/// A quota was spent, if that stopped the peer for such a share of the time.
constexpr double throttled_above = 0.05;
/// Processors were short, if threads had to wait for one for such a share of the time.
constexpr double short_above = 0.2;
/// The kernel's, of a group's quota.
constexpr double usual_period_s = 0.1;
constexpr double giga = 1e9, milli = 1e3;

/// One worker of the run.
struct RunPeer {
    PeerResult result;  ///< with figures
    MetricsLine last;
    Usage usage;  ///< of the last seconds in which it trained; 0 seconds: not known
    std::uint64_t memory_bytes = 0;

    double rounds() const { return static_cast<double>(result.rounds); }
    RoundFigures round() const { return round_figures(*result.figures, rounds()); }
};

/// Nothing if it left no result with enough rounds. Throws StartupError.
std::optional<RunPeer> read_peer(const std::string& folder, const std::string& name) {
    const auto result = read_result(fmt::format("{}/result-{}.json", folder, name));
    if (!result || !result->figures || result->rounds < telling_rounds_min) return std::nullopt;
    RunPeer peer;
    peer.result = *result;
    const std::string file = fmt::format("{}/metrics-{}.jsonl", folder, name);
    std::ifstream in(file);
    bool any = false;
    for (std::string text; std::getline(in, text);) {
        auto line = parse_metrics_line(text);
        if (!line) continue;
        any = true;
        peer.memory_bytes = std::max(peer.memory_bytes, line->memory_bytes);
        if (line->phase == "training" && line->usage.seconds > 0 && line->usage.rounds_per_s > 0)
            peer.usage = line->usage;
        peer.last = std::move(*line);
    }
    if (!any)
        throw StartupError(file + ": has no line of metrics that this version can read",
                           "train again with this version, and name that run");
    return peer;
}

void refuse_what_varies(const std::string& folder, const TrainingSettings& training) {
    if (training.learners != 1)
        throw StartupError(folder + ": its rounds are of several learners, which no profile has",
                           "train with --set training.learners=1, and name that run");
    if (training.batch.global_target > 0 ||
        training.batch.schedule.kind != BatchScheduleKind::constant)
        throw StartupError(
            folder + ": its batches grow or follow the peers: no two rounds need be alike",
            "train with --set training.batch.global_target=none and --set "
            "training.batch.schedule.kind=constant, and name that run");
}

std::map<std::string, RunPeer> read_workers(const std::string& folder, const Settings& settings) {
    std::map<std::string, RunPeer> workers;
    for (const PeerSettings& peer : settings.peers) {
        if (peer.role != Role::worker) continue;
        if (auto read = read_peer(folder, peer.name)) workers[peer.name] = std::move(*read);
    }
    if (workers.empty())
        throw StartupError(
            fmt::format("{}: no peer of this run has ended with {} rounds or more, so that it says "
                        "nothing of machines",
                        folder, telling_rounds_min),
            "name a run that has ended, or train longer, such as with --set training.epochs=1");
    return workers;
}

/// A program says how many parameters it has in no other file.
std::size_t saved_parameters(const std::string& folder, const Settings& settings) {
    std::vector<std::string> names = {"model"};
    for (const PeerSettings& peer : settings.peers) names.push_back("model-" + peer.name);
    names.emplace_back("checkpoint");
    for (const std::string& name : names) {
        const std::string file = fmt::format("{}/{}.safetensors", folder, name);
        std::error_code error;
        if (fs::exists(file, error)) return safetensors_count(file);
    }
    throw StartupError(
        folder + ": no saved model says how many parameters the program of this run has",
        "let a run of it come to its end, and name that run");
}

/// Of a gradient that takes so long.
std::vector<GradientStep> assumed_steps(const std::vector<Range>& layers, double seconds) {
    const auto total = static_cast<double>(layers.back().first + layers.back().count);
    const auto share = [&](const Range& layer) {
        return seconds * static_cast<double>(layer.count) / total;
    };
    std::vector<GradientStep> steps;
    double before = 0;  // what has been computed since the step before
    for (const Range& layer : layers) {
        steps.push_back({GradientStep::Kind::await, layer, before});
        before = forward_share * share(layer);
    }
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
        steps.push_back(
            {GradientStep::Kind::ready, *layer, before + (1 - forward_share) * share(*layer)});
        before = 0;
    }
    steps.push_back({GradientStep::Kind::end, {}, 0});
    return steps;
}

/// Of the time that a gradient took by the clock, what its thread ran, or waited for something else
/// than a processor. What it waited for one within the exchange cannot be told from that, so that
/// the time that it ran is the least.
double unhindered(const Usage& usage) {
    if (usage.gradient <= 0) return 1;
    const double least = std::max(usage.compute_running, usage.gradient - usage.compute_runnable);
    return std::min(1.0, least / usage.gradient);
}

/// Seconds of processor of a round, by what they are for.
struct RoundCosts {
    double gradient = 0;
    double input = 0;
    double network = 0;  ///< of other threads than the one that trains
    double rest = 0;     ///< of that one, in the exchange
};

/// Why the exchange's processor time is not known, for people; empty: it is.
std::string why_together(const Settings& settings, const std::map<std::string, RunPeer>& workers) {
    if (settings.model.kind == ModelKind::external) return "the program's own threads";
    if (settings.training.threads > 1) return "the threads of layers";
    if (std::any_of(workers.begin(), workers.end(),
                    [](const auto& worker) { return worker.second.usage.seconds == 0; }))
        return "all that took part in less than two seconds of training";
    return "";
}

/// `apart`: the other threads do nothing but exchange; `evaluates`: the one that trains evaluates,
/// too.
RoundCosts costs_of(const RunPeer& peer, const ExchangeProfile& usual, bool apart, bool evaluates) {
    const RoundFigures round = peer.round();
    const RoundParts& parts = peer.last.round_parts;
    const auto& counts = parts[RoundPart::gradient].counts;
    const double counted = static_cast<double>(std::max(
        std::uint64_t{1}, std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})));
    const double share = unhindered(peer.usage);
    const double usual_network = usual.s_per_byte * round.bytes();
    constexpr double least = 1e-7;  // a step that takes nothing is none
    RoundCosts costs;
    costs.gradient = std::max(least, share * peer.result.figures->gradient_ms_p50 / milli);
    costs.input = share * parts[RoundPart::input].seconds / counted;
    costs.network = usual_network;
    if (peer.usage.seconds > 0 && round.bytes() > 0) {
        costs.network = peer.usage.network_running / peer.usage.rounds_per_s;
        if (!apart) costs.network = std::min(costs.network, usual_network);
    }
    double rest_max = parts.exchange_seconds() / counted;
    if (!apart || evaluates) rest_max = std::min(rest_max, usual.round_s);
    costs.rest =
        std::clamp(round.cpu_s - costs.gradient - costs.input - costs.network, 0.0, rest_max);
    return costs;
}

/// What the run's mode showed, and of the others what is usual.
std::map<std::string, ExchangeProfile> exchange_from(const RunPeer& peer, const RoundCosts& costs,
                                                     const ModeEntry& entry, std::size_t peers,
                                                     std::size_t parameter_count) {
    std::map<std::string, ExchangeProfile> exchange = {{"ring", usual_buckets},
                                                       {"ako", usual_rows}};
    const RoundFigures round = peer.round();
    if (round.bytes() == 0) return exchange;
    const bool rows = entry.arrivals == Arrivals::into_rows;
    ExchangeProfile own{.s_per_byte = costs.network / round.bytes()};
    if (rows) {
        const double share = share_of_rows(round, peers, parameter_count);
        own.bytes_share = share > 0 ? share : usual_rows.bytes_share;
        own.round_s = costs.rest;
    } else {
        exchange["ring"] = own;
    }
    exchange[std::string(entry.word)] = own;
    return exchange;
}

MachineProfile profile_of(const RunPeer& peer, const RoundCosts& costs, const Settings& settings,
                          const std::vector<Range>& layers) {
    const ModeEntry& entry = entry_of(settings.exchange);
    MachineProfile profile;
    profile.network = network_digest(settings);
    profile.parameter_count = layers.back().first + layers.back().count;
    std::size_t batch = settings.training.batch.local;
    if (settings.model.kind == ModelKind::external)  // which may have said another
        batch = std::max<std::size_t>(
            1, static_cast<std::size_t>(
                   std::llround(static_cast<double>(peer.result.samples) / peer.rounds())));
    profile.gradients = {{batch, costs.gradient, costs.gradient, usual_spread,
                          assumed_steps(layers, costs.gradient)}};
    profile.exchange =
        exchange_from(peer, costs, entry, settings.peers.size(), profile.parameter_count);
    const bool rows = entry.arrivals == Arrivals::into_rows && peer.round().bytes() > 0;
    profile.round_s = costs.input + (rows ? 0 : costs.rest);
    profile.process_bytes = peer.memory_bytes;
    profile.memory_bytes = peer.last.memory_limit;
    const double bytes = peer.round().bytes();
    profile.text = fmt::format(
        "a gradient of {} samples {:.3g} ms of processor, {:.3g} ms beside it, {}", batch,
        costs.gradient * milli, (costs.input + costs.rest) * milli,
        bytes > 0 ? fmt::format("{:.3g} s for a GB of the {:.3g} MB that a round exchanges",
                                costs.network / bytes * giga, bytes / 1e6)
                  : "no exchange");
    profile.measured_by =
        fmt::format("{} rounds of the mode {}", grouped(peer.result.rounds), entry.name);
    return profile;
}

double used_cores(const Usage& usage) { return usage.compute_running + usage.network_running; }

/// `shared`: of the machine that all peers ran on; 0: each had its own.
void take_cores(std::map<std::string, MachineProfile>& profiles,
                const std::map<std::string, RunPeer>& workers, double shared, unsigned threads,
                std::vector<std::string>& grounds) {
    double used_by_all = 0;
    for (const auto& [name, peer] : workers) used_by_all += used_cores(peer.usage);
    const double enough = std::max(2.0, 1.0 + threads);  // one that carries what is sent
    bool assumed = false;
    for (auto& [name, profile] : profiles) {
        const Usage& usage = workers.at(name).usage;
        const double used = used_cores(usage);
        profile.cores = shared > 0 ? shared : std::max(enough, std::ceil(used));
        if (usage.throttled > throttled_above) {
            profile.quota_cores = shared > 0 ? used_by_all : used;
            profile.quota_period_s = usual_period_s;
            grounds.push_back(fmt::format(
                "assumed: {} had {:.2g} cores of a quota that it spent, filled anew every {:g} ms",
                name, profile.quota_cores, usual_period_s * milli));
        } else if (shared == 0 && usage.compute_runnable + usage.network_runnable > short_above &&
                   used > 0) {
            profile.cores = used;
            grounds.push_back(fmt::format(
                "assumed: {} had {:.2g} cores, for its threads waited for more", name, used));
        } else {
            assumed = true;
        }
    }
    if (shared > 0)
        grounds.push_back(fmt::format(
            "assumed: the machine of all peers had {:g} cores, as this one has; how they slowed "
            "each other is in their times",
            shared));
    else if (assumed)
        grounds.push_back(
            fmt::format("assumed: {:g} cores or more for each of the others: its "
                        "threads did not wait for any",
                        enough));
}

void say_assumptions(const Settings& settings, const MachineProfile& profile,
                     const std::string& together, bool exchanged,
                     std::vector<std::string>& grounds) {
    grounds.push_back(
        settings.model.kind == ModelKind::external
            ? fmt::format("assumed: the program gives all its {} parameters at once, when its "
                          "round ends",
                          grouped(profile.parameter_count))
            : "assumed: layers' times in proportion to their parameters, a third of each forward, "
              "for a run tells that of all together");
    grounds.push_back(fmt::format("assumed: gradients differ by {:.0f} % from one to the next",
                                  usual_spread * 100));
    const auto usual = [](const ExchangeProfile& of) {
        return fmt::format("{:g} s of processor for a GB and {:g} ms a round", of.s_per_byte * giga,
                           of.round_s * milli);
    };
    const ModeEntry& entry = entry_of(settings.exchange);
    const bool rows = entry.arrivals == Arrivals::into_rows;
    if (exchanged && !together.empty())
        grounds.push_back(
            fmt::format("assumed: its exchange took {} at most, for {} cannot be "
                        "told from it",
                        usual(rows ? usual_rows : usual_buckets), together));
    else if (evaluates_between_rounds(settings.training))
        grounds.push_back(
            fmt::format("assumed: it took the thread that trains {:g} ms a round at "
                        "most, for its evaluations cannot be told from it",
                        (rows ? usual_rows : usual_buckets).round_s * milli));
    std::string others;
    if (!exchanged)
        others = fmt::format("exchanging takes {}, in the mode ako {}", usual(usual_buckets),
                             usual(usual_rows));
    else if (rows)
        others = fmt::format("in other modes exchanging takes {}", usual(usual_buckets));
    else
        others = fmt::format("other modes take the processor as {} does, and ako {}", entry.name,
                             usual(usual_rows));
    grounds.push_back("assumed: " + others);
}

}  // namespace

std::map<std::string, MachineProfile> profiles_of_run(const std::string& folder, double cores,
                                                      std::vector<std::string>& grounds) {
    const Settings settings = read_cluster_file(folder + "/config.yaml", {});
    refuse_what_varies(folder, settings.training);
    const std::map<std::string, RunPeer> workers = read_workers(folder, settings);
    const bool external = settings.model.kind == ModelKind::external;
    const std::vector<Range> layers =
        network_layers(settings, external ? saved_parameters(folder, settings) : 0);
    const bool rows = entry_of(settings.exchange).arrivals == Arrivals::into_rows;
    const std::string together = why_together(settings, workers);
    const bool evaluates = evaluates_between_rounds(settings.training);
    std::map<std::string, MachineProfile> profiles;
    bool exchanged = false;
    for (const auto& [name, peer] : workers) {
        const RoundCosts costs =
            costs_of(peer, rows ? usual_rows : usual_buckets, together.empty(), evaluates);
        profiles[name] = profile_of(peer, costs, settings, layers);
        exchanged = exchanged || peer.round().bytes() > 0;
    }
    say_assumptions(settings, profiles.begin()->second, together, exchanged, grounds);
    take_cores(profiles, workers, cores, settings.training.threads, grounds);
    return profiles;
}

}  // namespace ako
