// Are ring all-reduce and the parameter server in BSP what they claim to be: training in one
// process with the batches of all peers put together? Trains `mlp` and `lenet` on MNIST for 50
// rounds both ways and compares the parameters.
//     one_process FOLDER     the folder with MNIST
// Exit 0: all within 1e-5 (relative L2 norm). Exit 1: one is not; the last line names it.
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "models/catalog.h"
#include "models/dataset.h"
#include "models/shard.h"
#include "src/learning_rate.h"
#include "src/optimizer.h"
#include "tests/sim/distance.h"
#include "tests/sim/mode_cluster.h"

namespace {

using namespace ako;
using namespace ako::sim;

constexpr std::size_t peer_count = 4;
constexpr std::size_t batch = 16;
constexpr Round rounds = 50;
constexpr std::uint64_t seed = 1;
constexpr double distance_max = 1e-5;

/// The batches that each peer draws, kept so that both ways see the same.
class Batches {
  public:
    explicit Batches(const Dataset& data) {
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

TrainingSettings training() {
    TrainingSettings settings;
    settings.batch_per_peer = batch;
    settings.learning_rate = 0.05;
    settings.schedule.kind = ScheduleKind::cosine;
    settings.momentum = 0.9;
    settings.weight_decay = 5e-4;
    return settings;
}

std::vector<float> alone(Network& network, Batches& batches, std::vector<float> parameters) {
    std::vector<float> gradient(parameters.size()), update(parameters.size());
    const TrainingSettings settings = training();
    Sgd optimizer(parameters.size(), settings.momentum, settings.weight_decay);
    for (Round round = 0; round < rounds; ++round) {
        network.gradient(
            batches.together(round), parameters, gradient, [](Range) {}, [](Range) {});
        const double progress = static_cast<double>(round) / static_cast<double>(rounds);
        optimizer.step({0, parameters.size()}, gradient, parameters,
                       learning_rate_at(settings, progress), update);
        for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k] += update[k];
    }
    return parameters;
}

std::vector<float> together(Network& network, Batches& batches, std::span<const float> initial,
                            Mode mode) {
    ModeScenario scenario;
    scenario.seed = seed;
    scenario.settings.peer_names.assign(peer_count, "peer");
    scenario.settings.layers = layer_ranges(network.tensors());
    scenario.settings.training = training();
    scenario.settings.sample_budget = rounds * batch * peer_count;
    scenario.settings.exchange.mode = mode;
    scenario.settings.exchange.server.count = 3;
    scenario.peers.resize(peer_count);
    scenario.quality.bytes_per_second = 1e8;
    scenario.payload_max = std::size_t{64} * 1024;
    ModeCluster cluster(scenario, initial,
                        [&](PeerIndex peer, Round round, auto at, auto gradient) {
                            network.gradient(
                                batches.of(peer, round), at, gradient, [](Range) {}, [](Range) {});
                        });
    return cluster.run().front().parameters;
}

int run(const std::string& folder) {
    std::printf("%zu peers with batches of %zu, %llu rounds, relative distance of the parameters\n",
                peer_count, batch, static_cast<unsigned long long>(rounds));
    std::string off;
    for (const auto& [kind, name] :
         {std::pair{ModelKind::mlp, "mlp"}, {ModelKind::lenet, "lenet"}}) {
        const ModelSettings model{kind};
        const DataSettings mnist{DataFormat::idx, folder, {0.1307}, {0.3081}, Sharding::disjoint};
        Batches batches(load_dataset(mnist, DataPart::train, data_shape(model)));
        const std::unique_ptr<Network> network = make_network(model);
        std::vector<float> initial(network->parameter_count());
        network->initialize(seed, initial);
        const std::vector<float> expected = alone(*network, batches, initial);
        const double moved = relative_distance(initial, expected);
        std::printf("%-6s training moved them by %.3f\n", name, moved);
        if (!(moved > 0.01)) off += std::string(" ") + name + " did not learn;";
        for (const auto& [mode, mode_name] :
             {std::pair{Mode::ring, "ring"}, {Mode::parameter_server, "parameter-server"}}) {
            const double apart =
                relative_distance(together(*network, batches, initial, mode), expected);
            std::printf("%-6s %-16s %.2e\n", name, mode_name, apart);
            if (!(apart <= distance_max)) off += std::string(" ") + name + " " + mode_name + ";";
        }
    }
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
