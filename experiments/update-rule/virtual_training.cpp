// How many rounds does a cluster file need, whatever the network and the machine? Trains what the
// file says in one process and virtual time: the real exchange of any mode and the real layers, on
// simulated links whose transit takes so many rounds. On one machine it gives the same bits always.
//     virtual_training FILE [--set KEY=VALUE].. [--transit ROUNDS] [--slowest FACTOR] [--marks N]
//                      [--judged SAMPLES]
// All peers make rounds of the same length, staggered by the first one's; with --slowest the last
// peer's take so many times as long. Prints a line of JSON for each of N marks of the progress,
// evaluated on the first so many samples of the test set with the parameters that peer 0 would save
// (ako: its anchor), and one for the end:
//     {"progress": 0.5, "rounds": 117.0, "accuracy": 0.97, "loss": 0.1}
// `progress` and `rounds` are what all peers together have made by then, whoever knows of it;
// `rounds` is divided by their number. Data shards are disjoint, nobody stops at a target, and all
// peers are workers. Exit 1: training diverged. Exit 2: it cannot be run, or peers did not agree.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ako/error.h"
#include "models/catalog.h"
#include "models/dataset.h"
#include "models/shard.h"
#include "models/workers.h"
#include "src/config/cluster_file.h"
#include "src/modes/make_exchange.h"
#include "src/training/evaluation.h"
#include "src/wiring/settings_of_mode.h"
#include "tests/sim/sim_cluster.h"
#include "tests/sim/violation.h"

namespace {

using namespace ako;
using namespace ako::sim;

/// Virtual time of a round. A partition takes little beside it to leave at the links' rate.
constexpr Time round_time = ms(100);
constexpr LinkQuality link{1e10, Time{0}, 0, 0};
constexpr Pace pace{ms(5), ms(1), ms(1000)};
constexpr Time life_timeout = std::chrono::seconds(5);
/// Rounds; with a longer transit goodbyes would be late, and lives taken for ended.
constexpr double transit_max = 8;

struct Options {
    std::string file;
    std::vector<std::string> overrides;
    double transit = 0;  ///< rounds
    double slowest = 1;  ///< the last peer's rounds take so many times as long
    unsigned marks = 20;
    std::size_t judged = SIZE_MAX;  ///< samples of the test set
};

Time times(double factor, Time time) {
    return Time{static_cast<std::int64_t>(factor * static_cast<double>(time.count()))};
}

/// Throws StartupError for what is not simulated.
Settings read_settings(const Options& options) {
    Settings settings = read_cluster_file(options.file, options.overrides);
    if (settings.exchange.mode == Mode::local)
        throw StartupError("exchange.mode: nothing is exchanged in local", "take one peer");
    if (settings.data.sharding != Sharding::disjoint)
        throw StartupError("data.sharding: only disjoint data shards are simulated", "");
    for (const PeerSettings& peer : settings.peers) {
        if (peer.role != Role::worker)
            throw StartupError(peer.name + ": only workers are simulated", "");
    }
    return settings;
}

class VirtualTraining final : Work, Observer {
  public:
    explicit VirtualTraining(const Options& options);
    void run();

  private:
    TestSet test_set() {
        return {
            std::min(test_.size(), options_.judged),
            [this](std::size_t first, std::size_t count) { return slices_.slice(first, count); }};
    }
    std::unique_ptr<SimPeer> make_peer(PeerIndex self);
    Time time_of_round(const SimPeer& peer) const {
        const bool last = peer.settings.self + 1 == settings_.peers.size();
        return times(last ? options_.slowest : 1, round_time);
    }
    /// Samples of all peers together: those to make, and those made.
    double samples_in_all() const {
        return settings_.training.epochs * static_cast<double>(train_.size());
    }
    double samples_made() const;
    double samples_of_a_round() const {
        return static_cast<double>(settings_.training.batch.local * settings_.peers.size());
    }
    /// Before a round of peer 0: is a mark reached?
    void look(SimPeer& peer);
    /// What is in the evaluation. Throws RefusedGradient for a loss that is not finite.
    void judge();

    float gradient(SimPeer& peer) override;
    /// The first round is longer, so that peers are not in step, as on real machines.
    Time backward_time(const SimPeer& peer) override {
        const Time usual = time_of_round(peer) / static_cast<std::int64_t>(peer.layers.size());
        if (peer.exchange.standing().round > 0 || peer.layer > 0) return usual;
        const double share =
            static_cast<double>(peer.settings.self) / static_cast<double>(settings_.peers.size());
        return usual + times(share, round_time);
    }
    void gave_up(SimPeer& peer, const Next& next) override {
        if (next.ending == Ending::numbers) throw RefusedGradient(next.why);
        Observer::gave_up(peer, next);
    }

    const Options options_;
    const Settings settings_;
    const std::unique_ptr<Network> network_;
    const Dataset train_;
    const Dataset test_;
    SequentialBatches slices_;
    SlicedEvaluation evaluation_;
    std::vector<float> initial_;
    SimCluster cluster_;
    std::vector<std::unique_ptr<BatchSource>> batches_;  ///< [peer]
    double next_mark_;                                   ///< of the progress
};

VirtualTraining::VirtualTraining(const Options& options)
    : options_(options),
      settings_(read_settings(options)),
      network_(make_network(settings_.model)),
      train_(load_dataset(settings_.data, DataPart::train, data_shape(settings_.model))),
      test_(load_dataset(settings_.data, DataPart::test, data_shape(settings_.model))),
      slices_(test_),
      evaluation_(*network_, test_set(), network_->parameter_count()),
      initial_(network_->parameter_count()),
      cluster_(settings_.seed, settings_.peers.size(), life_timeout, pace, *this, *this),
      next_mark_(1.0 / options.marks) {
    network_->initialize(settings_.seed, initial_);
    cluster_.network().set_payload_max(payload_bytes_limit);
    const auto count = static_cast<PeerIndex>(settings_.peers.size());
    for (PeerIndex peer = 0; peer < count; ++peer) {
        batches_.push_back(make_shard(train_, Sharding::disjoint, peer, count, settings_.seed));
        for (PeerIndex other = 0; other < count; ++other) {
            LinkQuality& quality = cluster_.network().quality(peer, other) = link;
            quality.delay = times(options_.transit, round_time);
        }
        cluster_.add(make_peer(peer), Time{0});
    }
}

std::unique_ptr<SimPeer> VirtualTraining::make_peer(PeerIndex self) {
    ModeSettings settings = mode_settings(settings_);
    settings.self = self;
    settings.process_id = self + 1;
    settings.layers = layer_ranges(network_->tensors());
    settings.log = [](const std::string&) {};
    settings.sample_budget = static_cast<std::uint64_t>(samples_in_all());
    settings.exchange.life_timeout_ms = life_timeout / ms(1);
    return std::make_unique<SimPeer>(
        settings, initial_.size(), payload_bytes_max(settings, initial_.size()),
        [this](const ModeSettings& given, Mailbox& mailbox, Transport& over, const Clock& by) {
            return make_halves(given, initial_, mailbox, over, by);
        },
        cluster_.world(), cluster_.network(), Time{0});
}

float VirtualTraining::gradient(SimPeer& peer) {
    if (peer.settings.self == 0) look(peer);
    return network_->gradient(
        batches_[peer.settings.self]->next(peer.samples), peer.exchange.replica(), peer.gradient,
        [](Range) {}, [](Range) {});
}

void VirtualTraining::look(SimPeer& peer) {
    const Standing standing = peer.exchange.standing();
    const double progress = samples_made() / samples_in_all();
    if (progress < next_mark_) return;
    std::vector<float>& out = evaluation_.parameters();
    switch (settings_.exchange.mode) {
        case Mode::ako:
            peer.exchange.copy_parameters(out);
            break;
        case Mode::local:
        case Mode::sma:  // whose rounds end with updates of learners, which this does not have
            break;
        case Mode::local_sgd:  // just averaged
            if (standing.round % settings_.exchange.local_sgd.rounds != 0) return;
            [[fallthrough]];
        case Mode::ring:
        case Mode::parameter_server: {
            const std::span<const float> replica = peer.exchange.replica();
            out.assign(replica.begin(), replica.end());
        }
    }
    while (next_mark_ <= progress) next_mark_ += 1.0 / options_.marks;
    judge();
}

double VirtualTraining::samples_made() const {
    double sum = 0;
    for (PeerIndex peer = 0; peer < cluster_.size(); ++peer)
        sum += static_cast<double>(cluster_[peer].exchange.standing().samples);
    return sum;
}

void VirtualTraining::judge() {
    const double samples = samples_made();
    const double progress = samples / samples_in_all();
    const double rounds = samples / samples_of_a_round();
    evaluation_.begin(progress);
    const Verdict verdict = evaluation_.complete();
    if (!std::isfinite(verdict.loss.value_or(NAN))) throw RefusedGradient("the loss is not finite");
    fmt::print(R"({{"progress": {:.5f}, "rounds": {:.1f}, "accuracy": {:.5f}, "loss": {:.5f}}})",
               progress, rounds, verdict.accuracy, *verdict.loss);
    fmt::print("\n");
    std::fflush(stdout);
}

void VirtualTraining::run() {
    const double hops = 1 + 4 * static_cast<double>(cluster_.size()) * options_.transit;
    const double rounds = 100 + samples_in_all() / samples_of_a_round();
    cluster_.run(times(rounds * hops * options_.slowest, round_time));
    for (PeerIndex peer = 0; peer < cluster_.size(); ++peer) {
        const std::optional<FinishReport>& report = cluster_[peer].report;
        if (!report || !report->identical)
            throw Violation("a peer did not agree: " + settings_.peers[peer].name);
    }
    evaluation_.parameters() = cluster_[0].parameters;
    judge();
}

Options parse(int argc, char** argv) {
    Options options;
    CLI::App app("Trains what a cluster file says, in virtual time.");
    app.add_option("FILE", options.file)->required();
    app.add_option("--set", options.overrides)->allow_extra_args(false);
    app.add_option("--transit", options.transit)->check(CLI::Range(0.0, transit_max));
    app.add_option("--slowest", options.slowest)->check(CLI::Range(1.0, 100.0));
    app.add_option("--marks", options.marks)->check(CLI::PositiveNumber);
    app.add_option("--judged", options.judged)->check(CLI::PositiveNumber);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::exit(app.exit(error));
    }
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = parse(argc, argv);
    try {
        set_threads(1);
        VirtualTraining(options).run();
        return 0;
    } catch (const RefusedGradient& refused) {
        fmt::print(stderr, "virtual_training: {}\n", refused.what());
        return 1;
    } catch (const std::exception& error) {
        fmt::print(stderr, "virtual_training: {}\n", error.what());
        return 2;
    }
}
