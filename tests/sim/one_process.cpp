// Are ring all-reduce and the parameter server in BSP what they claim to be: training in one
// process with the batches of all peers put together? Trains `mlp` and `lenet` on MNIST for 50
// rounds both ways, in buckets of the usual sizes, and compares the parameters. All of a ring's
// buckets go round once, and straight once.
//     one_process FOLDER     the folder with MNIST
// Exit 0: each within 1e-5 (relative L2 norm). Exit 1: one is not; the last line names it.
//
// A max-pool whose two largest inputs are equal but for rounding sends its gradient to one or the
// other, and from there two trainings go apart like any two. Whether that happens depends on the
// seed and on the machine's kernels. So a control without any exchange comes first: the mean of the
// peers' gradients in a plain loop. A seed where rounding alone leads it away from the one process
// says nothing about the modes, and the next one is taken. Each way rounds in an order of its own,
// so where there is a max-pool one that goes apart has the next seed as well, up to three in all.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/catalog.h"
#include "models/dataset.h"
#include "models/shard.h"
#include "src/numbers/learning_rate.h"
#include "src/numbers/optimizer.h"
#include "tests/sim/distance.h"
#include "tests/sim/mode_run.h"

namespace {

using namespace ako;
using namespace ako::sim;

constexpr std::size_t peer_count = 4;
constexpr std::size_t batch = 16;
constexpr Round rounds = 50;
constexpr double distance_max = 1e-5;
constexpr std::uint64_t seeds_max = 10;
constexpr int departures_max = 2;  ///< of a way, by rounding, where a network has a max-pool

/// The batches that each peer draws, kept so that both ways see the same.
class Batches {
  public:
    Batches(const Dataset& data, std::uint64_t seed) {
        for (PeerIndex peer = 0; peer < peer_count; ++peer) {
            const auto shard = make_shard(data, Sharding::disjoint, peer, peer_count, seed);
            for (Round round = 0; round < rounds; ++round) {
                const Batch drawn = shard->next(batch);
                Kept& kept = kept_[peer].emplace_back();
                kept.images.assign(drawn.images.begin(), drawn.images.end());
                kept.labels.assign(drawn.labels.begin(), drawn.labels.end());
            }
        }
    }
    Batch of(PeerIndex peer, Round round) const {
        const Kept& kept = kept_[peer][round];
        return {kept.images, kept.labels, kept.labels.size()};
    }
    /// Those of all peers in this round, as one.
    Batch together(Round round) {
        joined_ = {};
        for (const auto& of_peer : kept_) {
            const Kept& kept = of_peer[round];
            joined_.images.insert(joined_.images.end(), kept.images.begin(), kept.images.end());
            joined_.labels.insert(joined_.labels.end(), kept.labels.begin(), kept.labels.end());
        }
        return {joined_.images, joined_.labels, joined_.labels.size()};
    }

  private:
    struct Kept {
        std::vector<float> images;
        std::vector<std::uint8_t> labels;
    };
    std::vector<Kept> kept_[peer_count];
    Kept joined_;
};

TrainingSettings training(OptimizerKind optimizer) {
    TrainingSettings settings;
    settings.optimizer = optimizer;
    settings.trust_coefficient = 0.03;
    settings.batch.local = batch;
    settings.learning_rate = 0.05;
    settings.schedule.kind = RateScheduleKind::cosine;
    settings.momentum = 0.9;
    settings.nesterov = false;  // which makes of rounding another network within these rounds
    settings.weight_decay = 5e-4;
    return settings;
}

/// In one process. `split`: the control, with the mean of the gradients of the peers' batches.
std::vector<float> alone(Network& network, Batches& batches, std::vector<float> parameters,
                         OptimizerKind kind, bool split) {
    std::vector<float> gradient(parameters.size()), update(parameters.size());
    const auto compute = [&](const Batch& drawn, std::vector<float>& out) {
        network.gradient(
            drawn, parameters, out, [](Range) {}, [](Range) {});
    };
    const TrainingSettings settings = training(kind);
    const Range all{0, parameters.size()};
    Sgd optimizer(parameters.size(), settings, layer_ranges(network.tensors()));
    for (Round round = 0; round < rounds; ++round) {
        if (split) {
            std::vector<float> one(parameters.size());
            std::fill(gradient.begin(), gradient.end(), 0.0F);
            for (PeerIndex peer = 0; peer < peer_count; ++peer) {
                compute(batches.of(peer, round), one);
                for (std::size_t k = 0; k < one.size(); ++k) gradient[k] += one[k] / peer_count;
            }
        } else {
            compute(batches.together(round), gradient);
        }
        const double progress = static_cast<double>(round) / static_cast<double>(rounds);
        if (optimizer.measures()) optimizer.measure(all, gradient, 1, parameters);
        optimizer.step(all, gradient, parameters, learning_rate_at(settings, progress), update);
        for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k] += update[k];
    }
    return parameters;
}

/// One way to train together.
struct Way {
    const char* name;
    Mode mode;
    std::size_t straight_bytes_max;  ///< of the ring
    OptimizerKind optimizer = OptimizerKind::sgd;
};
constexpr Way ways[] = {{"ring, round", Mode::ring, 0},
                        {"ring, straight", Mode::ring, SIZE_MAX},
                        {"parameter-server", Mode::parameter_server, 0},
                        {"ring, lars", Mode::ring, 0, OptimizerKind::lars}};

std::vector<float> together(Network& network, Batches& batches, std::span<const float> initial,
                            const Way& way, std::uint64_t seed) {
    ModeScenario scenario;
    scenario.seed = seed;
    scenario.settings.peer_names.assign(peer_count, "peer");
    scenario.settings.layers = layer_ranges(network.tensors());
    scenario.settings.training = training(way.optimizer);
    scenario.settings.sample_budget = rounds * batch * peer_count;
    scenario.settings.exchange.mode = way.mode;
    scenario.settings.straight_bytes_max = way.straight_bytes_max;
    scenario.settings.exchange.server.count = 3;
    scenario.peers.resize(peer_count);
    scenario.quality.bytes_per_second = 1e8;
    scenario.payload_max = std::size_t{64} * 1024;
    scenario.bucket_bytes_min = Buckets::bytes_min;
    scenario.bucket_bytes_split = Buckets::bytes_split;
    ModeRun run(scenario, initial, [&](PeerIndex peer, Round round, auto at, auto gradient) {
        network.gradient(
            batches.of(peer, round), at, gradient, [](Range) {}, [](Range) {});
    });
    return run.run().ends.front().parameters;
}

/// One network on MNIST, both ways.
class Comparison {
  public:
    Comparison(ModelKind kind, std::string name, const std::string& folder)
        : name_(std::move(name)),
          data_(load_dataset({DataFormat::idx, folder, {0.1307}, {0.3081}, Sharding::disjoint},
                             DataPart::train, data_shape({kind}))),
          network_(make_network({kind})),
          departures_max_(kind == ModelKind::lenet ? departures_max : 0) {}

    /// What is off with it, for the last line; empty if nothing is.
    std::string run() {
        for (std::uint64_t seed = 1; seed <= seeds_max && !open_.empty(); ++seed) {
            Batches batches(data_, seed);
            for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::lars})
                if (!try_seed(seed, kind, batches)) return " " + name_ + " did not learn;";
        }
        for (const Way& way : open_) off_ += " " + name_ + " " + way.name + ";";
        return off_;
    }

  private:
    bool is_over(const Way& way, double apart) {
        if (apart <= distance_max) return true;
        if (departures_[way.name]++ < departures_max_) return false;
        off_ += " " + name_ + " " + way.name + ";";
        return true;
    }

    /// Closes the ways with this optimizer that agree with the one process. Returns false if that
    /// one does not learn.
    bool try_seed(std::uint64_t seed, OptimizerKind kind, Batches& batches) {
        const auto is_of_kind = [&](const Way& way) { return way.optimizer == kind; };
        if (std::none_of(open_.begin(), open_.end(), is_of_kind)) return true;
        std::vector<float> initial(network_->parameter_count());
        network_->initialize(seed, initial);
        const std::vector<float> expected = alone(*network_, batches, initial, kind, false);
        const double moved = relative_distance(initial, expected);
        const double control =
            relative_distance(alone(*network_, batches, initial, kind, true), expected);
        std::printf("%-6s seed %d: training moved them by %.3f; control %.2e\n", name_.c_str(),
                    static_cast<int>(seed), moved, control);
        if (!(moved > 0.01)) return false;
        if (!(control <= distance_max)) return true;
        std::erase_if(open_, [&](const Way& way) {
            if (!is_of_kind(way)) return false;
            const double apart =
                relative_distance(together(*network_, batches, initial, way, seed), expected);
            std::printf("%-6s %-16s %.2e\n", name_.c_str(), way.name, apart);
            return is_over(way, apart);
        });
        return true;
    }

    const std::string name_;
    const Dataset data_;
    const std::unique_ptr<Network> network_;
    const int departures_max_;
    std::vector<Way> open_{std::begin(ways), std::end(ways)};  ///< have neither agreed nor failed
    std::map<std::string, int> departures_;
    std::string off_;
};

int run(const std::string& folder) {
    std::printf("%zu peers with batches of %zu, %llu rounds, relative distance of the parameters\n",
                peer_count, batch, static_cast<unsigned long long>(rounds));
    std::string off = Comparison(ModelKind::mlp, "mlp", folder).run();
    off += Comparison(ModelKind::lenet, "lenet", folder).run();
    if (off.empty()) return 0;
    std::printf("violated: not what one process learns:%s the limit is %.0e\n", off.c_str(),
                distance_max);
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: one_process FOLDER\n");
        return 2;
    }
    try {
        return run(argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "one_process: %s\n", error.what());
        return 3;
    }
}
