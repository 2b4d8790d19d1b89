#include "src/numbers/batch_plan.h"

#include <algorithm>
#include <cmath>

#include "ako/assert.h"

namespace ako {

BatchPlan::BatchPlan(const TrainingSettings& training, std::size_t workers)
    : training_(training),
      workers_(std::max<std::size_t>(workers, 1)),
      has_target_(training.batch.global_target > 0 ||
                  training.batch.schedule.kind != BatchScheduleKind::constant) {}

std::size_t BatchPlan::global(double progress, unsigned doublings) const {
    const BatchSettings& batch = training_.batch;
    std::size_t samples = batch.global_target > 0 ? batch.global_target : base();
    if (batch.schedule.kind == BatchScheduleKind::steps) {
        for (const double mark : batch.schedule.at)
            if (mark <= progress)
                samples = std::min(samples * batch.schedule.factor, global_batch_max);
    } else if (batch.schedule.kind == BatchScheduleKind::automatic) {
        samples <<= std::min(doublings, doublings_max);
    }
    return std::min(samples, global_batch_max);
}

std::size_t BatchPlan::share(std::size_t global, std::size_t place,
                             std::size_t participants) const {
    if (local_only()) return training_.samples_per_round();
    AKO_ASSERT(place < participants, "who does not take part has no share");
    return std::max<std::size_t>(part_of({0, global}, place, participants).count, 1);
}

std::size_t BatchPlan::share_min() const {
    if (local_only()) return training_.samples_per_round();
    return std::max<std::size_t>(global(0, 0) / workers_, 1);
}

// Alone, a peer has all of it.
std::size_t BatchPlan::share_max() const {
    return local_only() ? training_.samples_per_round_max() : global(1, doublings_max);
}

std::uint64_t BatchPlan::rounds(std::uint64_t sample_budget) const {
    const auto budget = static_cast<double>(sample_budget);
    std::uint64_t samples = 0, rounds = 0;
    while (samples < sample_budget) {
        const double progress = static_cast<double>(samples) / budget;
        const std::uint64_t of_round = global(progress, 0);
        std::uint64_t end = sample_budget;  // of the rounds with as many samples
        if (training_.batch.schedule.kind == BatchScheduleKind::steps) {
            for (const double mark : training_.batch.schedule.at) {
                if (mark <= progress) continue;
                end = static_cast<std::uint64_t>(std::ceil(mark * budget));
                break;
            }
        }
        const std::uint64_t made =
            std::max<std::uint64_t>((end - samples + of_round - 1) / of_round, 1);
        rounds += made;
        samples += made * of_round;
    }
    return rounds;
}

double BatchPlan::rate_factor(double progress, unsigned doublings) const {
    if (local_only()) return 1;
    const double ratio =
        static_cast<double>(global(progress, doublings)) / static_cast<double>(base());
    switch (training_.batch.rate_rule) {
        case RateRule::none:
            return 1;
        case RateRule::linear:
            return ratio;
        case RateRule::sqrt:
            return std::sqrt(ratio);
    }
    return 1;
}

}  // namespace ako
