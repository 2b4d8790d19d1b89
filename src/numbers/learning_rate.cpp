#include "src/numbers/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ako {

namespace {

double after_warm_up(const RateScheduleSettings& schedule, double progress) {
    switch (schedule.kind) {
        case RateScheduleKind::constant:
            return 1;
        case RateScheduleKind::cosine: {
            const double left = 1 - schedule.warm_up;
            if (left <= 0) return 1;
            const double share = std::clamp((progress - schedule.warm_up) / left, 0.0, 1.0);
            return 0.5 * (1 + std::cos(std::numbers::pi * share));
        }
        case RateScheduleKind::steps:
            return std::pow(schedule.factor, static_cast<double>(steps_passed(schedule, progress)));
    }
    return 1;
}

}  // namespace

std::size_t steps_passed(const RateScheduleSettings& schedule, double progress) {
    if (schedule.kind != RateScheduleKind::steps) return 0;
    return static_cast<std::size_t>(
        std::count_if(schedule.at.begin(), schedule.at.end(),
                      [progress](double mark) { return mark <= progress; }));
}

double learning_rate_at(const TrainingSettings& training, double progress) {
    const RateScheduleSettings& schedule = training.schedule;
    const double now = std::clamp(progress, 0.0, 1.0);
    const double warmed = now < schedule.warm_up ? now / schedule.warm_up : 1.0;
    return training.learning_rate * warmed * after_warm_up(schedule, now);
}

}  // namespace ako
