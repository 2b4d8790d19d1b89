// The learning rate as a function of progress: pure, any thread. The mode that owns the optimizer
// asks once per round.
#pragma once

#include <cstddef>

#include "ako/algorithm_settings.h"

namespace ako {

/// The learning rate at `progress` (0 .. 1 of the sample budget of all peers; clamped). It rises
/// linearly from 0 over the first `schedule.warm_up` of the budget; after that it is
/// - constant: `learning_rate`,
/// - cosine: `learning_rate` falling to 0 along half a cosine over what is left of the budget
///   (Loshchilov and Hutter, "SGDR", 2017, without restarts),
/// - steps: `learning_rate` times `factor` for every mark in `at` that has been passed.
double learning_rate_at(const TrainingSettings& training, double progress);

/// How often the rate has fallen in steps by then; 0 of other schedules.
std::size_t steps_passed(const RateScheduleSettings& schedule, double progress);

}  // namespace ako
