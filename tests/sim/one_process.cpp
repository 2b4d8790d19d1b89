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
// so one that goes apart has the next seed as well: a way that is wrong goes apart with every seed.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
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
constexpr std::uint64_t seeds_max = 5;

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

/// What is off with this network, for the last line; empty if nothing is.
std::string compare(ModelKind kind, const std::string& name, const std::string& folder) {
    const ModelSettings model{kind};
    const DataSettings mnist{DataFormat::idx, folder, {0.1307}, {0.3081}, Sharding::disjoint};
    const Dataset data = load_dataset(mnist, DataPart::train, data_shape(model));
    const std::unique_ptr<Network> network = make_network(model);
    std::vector<Way> open(std::begin(ways), std::end(ways));
    for (std::uint64_t seed = 1; seed <= seeds_max; ++seed) {
        Batches batches(data, seed);
        std::vector<float> initial(network->parameter_count());
        network->initialize(seed, initial);
        std::vector<float> expected[2];  // [optimizer]
        bool agrees = true;
        for (const OptimizerKind by : {OptimizerKind::sgd, OptimizerKind::lars}) {
            std::vector<float>& of_kind = expected[static_cast<std::size_t>(by)];
            of_kind = alone(*network, batches, initial, by, false);
            const double moved = relative_distance(initial, of_kind);
            const double control =
                relative_distance(alone(*network, batches, initial, by, true), of_kind);
            std::printf("%-6s seed %d: training moved them by %.3f; control %.2e\n", name.c_str(),
                        static_cast<int>(seed), moved, control);
            if (!(moved > 0.01)) return " " + name + " did not learn;";
            agrees = agrees && control <= distance_max;
        }
        if (!agrees) continue;
        std::erase_if(open, [&](const Way& way) {
            const double apart =
                relative_distance(together(*network, batches, initial, way, seed),
                                  expected[static_cast<std::size_t>(way.optimizer)]);
            std::printf("%-6s %-16s %.2e\n", name.c_str(), way.name, apart);
            return apart <= distance_max;
        });
        if (open.empty()) return "";
    }
    std::string off;
    for (const Way& way : open) off += " " + name + " " + way.name + ";";
    return off;
}

int run(const std::string& folder) {
    std::printf("%zu peers with batches of %zu, %llu rounds, relative distance of the parameters\n",
                peer_count, batch, static_cast<unsigned long long>(rounds));
    std::string off = compare(ModelKind::mlp, "mlp", folder);
    off += compare(ModelKind::lenet, "lenet", folder);
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
