// The batch plan: how many samples a round takes, and which learning rate goes with them.
//
//   local    samples of one peer: of every round, if nothing is said of all peers together
//   global   samples of a round of all peers together. It stays as it is when peers come and go:
//            each of those that take part has an equal share, computed in parts of at most `local`
//   base     `local` of every worker of the file: what `training.learning_rate` is for
// With several learners `local` is of each, and nothing is said of all peers together.
//
// The global batch starts with `global_target`, else with the base, and grows at shares of the
// budget (S. Smith, P.-J. Kindermans, C. Ying, Q. Le: "Don't Decay the Learning Rate, Increase the
// Batch Size", 2018) or by doublings that peers agree on (batch_growth.h). With another global
// batch than the base the rate is multiplied by their ratio (P. Goyal et al.: "Accurate, Large
// Minibatch SGD", 2017) or its root (A. Krizhevsky: "One weird trick", 2014).
// A value, constant after construction; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ako/algorithm_settings.h"
#include "ako/types.h"
#include "src/numbers/learning_rate.h"

namespace ako {

class BatchPlan {
  public:
    /// By so many doublings the global batch grows at most.
    static constexpr unsigned doublings_max = 8;

    /// `workers`: of the cluster file; one or more.
    BatchPlan(const TrainingSettings& training, std::size_t workers);

    /// Does every round of every peer have `local` samples of each learner, whoever is there?
    bool local_only() const { return !has_target_; }
    bool grows_by_noise() const {
        return training_.batch.schedule.kind == BatchScheduleKind::automatic;
    }
    /// Samples of a round of all workers together, at `progress` (0 .. 1) and after so many
    /// doublings, of which no more than `doublings_max` count.
    std::size_t global(double progress, unsigned doublings) const;
    /// Samples of the `place`-th of so many peers that take part; shares differ by one at most.
    std::size_t share(std::size_t global, std::size_t place, std::size_t participants) const;
    /// The least and the most samples of one peer in one round, whatever comes.
    std::size_t share_min() const;
    std::size_t share_max() const;

    /// What `training.learning_rate` is multiplied by for this batch, by the rule.
    double rate_factor(double progress, unsigned doublings) const;
    double learning_rate(double progress, unsigned doublings) const {
        return learning_rate_at(training_, progress) * rate_factor(progress, doublings);
    }
    /// Rounds of each worker for so many samples of all together, if all are equally fast and the
    /// batch is not doubled.
    std::uint64_t rounds(std::uint64_t sample_budget) const;

  private:
    std::size_t base() const { return training_.samples_per_round() * workers_; }

    TrainingSettings training_;
    std::size_t workers_;
    bool has_target_;
};

/// So many samples of a batch are computed at once, at most: of `local` in its parts. To grow by
/// the noise of gradients takes two parts at least, for it is seen in what differs between them.
constexpr std::size_t samples_at_once(const BatchSettings& batch) {
    const bool by_noise = batch.schedule.kind == BatchScheduleKind::automatic;
    const std::size_t parts = by_noise && batch.accumulate < 2 ? 2 : batch.accumulate;
    return (batch.local + parts - 1) / parts;
}

/// Is a batch of this plan ever computed in more than one part?
constexpr bool computes_in_parts(const BatchSettings& batch) {
    return batch.accumulate > 1 || batch.global_target > 0 ||
           batch.schedule.kind != BatchScheduleKind::constant;
}

}  // namespace ako
