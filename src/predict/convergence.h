// Convergence: how many rounds it takes to a target, of larger batches and with rows that are old.
// Pure functions; any thread.
#pragma once

#include <cstddef>

#include "src/rows/partition_bound.h"

namespace ako {

/// What is known of a training that one machine has done, or could.
struct Convergence {
    double rounds = 0;       ///< of one machine, to the target
    std::size_t batch = 0;   ///< samples of such a round
    double noise_scale = 0;  ///< of the gradient, in samples: src/training/gradient_noise.h
};

/// Rounds with so many samples in each, all peers together. A round of B samples does as much as
/// 1 / (1 + noise / B) of one whose gradient has no noise (S. McCandlish, J. Kaplan, D. Amodei et
/// al.: "An Empirical Model of Large-Batch Training", 2018, equation 2.7), at a learning rate that
/// is right for it.
inline double rounds_to_target(const Convergence& known, double samples) {
    const auto per_round = [&](double count) { return 1 + known.noise_scale / count; };
    return known.rounds * per_round(samples) / per_round(static_cast<double>(known.batch));
}

/// How many times as many rounds it takes where a cycle over a row takes so many; 0: no rows
/// (experiments/update-rule, for LeNet and cifar-quick).
inline double staleness_factor(double partitions) {
    return 1 + PartitionBound::rounds_per_partition * partitions;
}

/// Up to so many it was tried.
inline constexpr double partitions_tried = 24;

}  // namespace ako
