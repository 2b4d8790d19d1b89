// See reference.h.
#include "tests/sim/reference.h"

#include <algorithm>
#include <utility>

#include "ako/mode_table.h"
#include "src/numbers/learning_rate.h"
#include "src/numbers/optimizer.h"

namespace ako::sim {

std::vector<float> one_process(const ModeScenario& scenario, const Task& task, Round rounds) {
    const TrainingSettings& training = scenario.settings.training;
    const std::size_t batch = training.batch.local;
    const std::vector<PeerIndex> workers = scenario.settings.workers();
    std::vector<float> parameters(task.initial().begin(), task.initial().end());
    std::vector<float> mean(parameters.size()), one(mean), update(mean);
    std::vector<float> read = parameters;
    Sgd optimizer(parameters.size(), training, {});
    for (Round round = 0; round < rounds; ++round) {
        std::fill(mean.begin(), mean.end(), 0.0f);
        for (const PeerIndex worker : workers) {
            task.gradient(worker, round, read, one);
            for (std::size_t k = 0; k < mean.size(); ++k)
                mean[k] += one[k] / static_cast<float>(workers.size());
        }
        if (entry_of(scenario.settings.exchange).runs_ahead) read = parameters;
        const double progress = static_cast<double>(round * workers.size() * batch) /
                                static_cast<double>(scenario.settings.sample_budget);
        optimizer.step({0, mean.size()}, mean, parameters, learning_rate_at(training, progress),
                       update);
        for (std::size_t k = 0; k < mean.size(); ++k) parameters[k] += update[k];
        if (!entry_of(scenario.settings.exchange).runs_ahead) read = parameters;
    }
    return parameters;
}

std::vector<float> local_rounds_in_turn(const ModeScenario& scenario, const Task& task,
                                        Round rounds) {
    const TrainingSettings& training = scenario.settings.training;
    const std::size_t batch = training.batch.local;
    const LocalSgdSettings& local = scenario.settings.exchange.local_sgd;
    const std::size_t peers = scenario.peers.size();
    const std::span<const float> initial = task.initial();
    const std::size_t elements = initial.size();
    std::vector<double> average(initial.begin(), initial.end()), velocity(elements);
    std::vector<std::vector<float>> replicas(peers, {initial.begin(), initial.end()});
    std::vector<Sgd> optimizers(peers, Sgd(elements, training, {}));
    std::vector<float> gradient(elements), update(elements);
    for (Round round = 0; round < rounds; ++round) {
        const double progress = static_cast<double>(round * peers * batch) /
                                static_cast<double>(scenario.settings.sample_budget);
        for (PeerIndex peer = 0; peer < peers; ++peer) {
            task.gradient(peer, round, replicas[peer], gradient);
            optimizers[peer].step({0, elements}, gradient, replicas[peer],
                                  learning_rate_at(training, progress), update);
            for (std::size_t k = 0; k < elements; ++k) replicas[peer][k] += update[k];
        }
        if ((round + 1) % local.rounds != 0 && round + 1 != rounds) continue;
        for (std::size_t k = 0; k < elements; ++k) {
            double mean = 0;
            for (const auto& replica : replicas)
                mean += (average[k] - static_cast<double>(replica[k])) / static_cast<double>(peers);
            velocity[k] = local.outer_momentum * velocity[k] + mean;
            average[k] -= local.outer_learning_rate * (mean + local.outer_momentum * velocity[k]);
            for (auto& replica : replicas) replica[k] = static_cast<float>(average[k]);
        }
    }
    return {average.begin(), average.end()};
}

// The progress that all foresee: after one round by the learners that the settings say (with `auto`
// one of each peer), later by those that they have heard of.
double averaging_progress(const ModeScenario& scenario, Round rounds) {
    const TrainingSettings& training = scenario.settings.training;
    const auto peers = static_cast<PeerIndex>(scenario.peers.size());
    const std::size_t learners =
        rounds == 1 ? peers * std::max(1U, training.learners) : scenario.learners_before(peers);
    return static_cast<double>(rounds * learners * training.batch.local) /
           static_cast<double>(scenario.settings.sample_budget);
}

std::vector<float> averaged_in_turn(const ModeScenario& scenario, const Task& task, Round rounds) {
    const TrainingSettings& training = scenario.settings.training;
    const auto peers = static_cast<PeerIndex>(scenario.peers.size());
    const std::size_t learners = scenario.learners_before(peers);
    std::vector<std::size_t> told;  // [learner], what its peer takes all together for at first
    for (PeerIndex peer = 0; peer < peers; ++peer)
        told.insert(told.end(), scenario.learners_of(peer), peers * scenario.learners_of(peer));
    const std::span<const float> initial = task.initial();
    const std::size_t elements = initial.size();
    const double momentum = learners == 1 ? 0 : training.averaging_momentum;
    std::vector<double> average(initial.begin(), initial.end()), before(average);
    std::vector<std::vector<float>> replicas(learners, {initial.begin(), initial.end()});
    std::vector<Sgd> optimizers(learners, Sgd(elements, training, {}));
    std::vector<float> gradient(elements);
    std::size_t passed = 0;
    for (Round round = 0; round < rounds; ++round) {
        const double progress = averaging_progress(scenario, round);
        if (std::exchange(passed, steps_passed(training.schedule, progress)) != passed) {
            for (auto& replica : replicas) replica.assign(average.begin(), average.end());
            before = average;
        }
        std::vector<double> next(elements), carried(elements);
        for (std::size_t k = 0; k < elements; ++k) {
            carried[k] = momentum * (average[k] - before[k]);
            next[k] = average[k] + carried[k];
        }
        for (std::size_t j = 0; j < learners; ++j) {
            task.gradient(static_cast<PeerIndex>(j), round, replicas[j], gradient);
            optimizers[j].apply({0, elements}, gradient, 1, replicas[j],
                                learning_rate_at(training, progress));
            for (std::size_t k = 0; k < elements; ++k) {
                const double difference = static_cast<double>(replicas[j][k]) - average[k];
                const auto together = static_cast<double>(round == 0 ? told[j] : learners);
                if (learners > 1)
                    replicas[j][k] += static_cast<float>(carried[k] - difference / together);
                next[k] += difference / static_cast<double>(learners);
            }
        }
        before = std::exchange(average, next);
    }
    return {average.begin(), average.end()};
}

}  // namespace ako::sim
