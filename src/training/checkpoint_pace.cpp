#include "src/training/checkpoint_pace.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ako {

namespace {

constexpr double marks_apart_most = 1e15;
constexpr double expected_s_per_byte = 6e-9;

}  // namespace

double best_interval(const CheckpointCost& cost, double mtbf) {
    const double lost = cost.of_training();
    if (lost >= 2 * mtbf) return mtbf;  // more than half of the time, whatever is done
    const double root = std::sqrt(lost / (2 * mtbf));
    return std::sqrt(2 * lost * mtbf) * (1 + root / 3 + root * root / 9) - lost;
}

double least_interval(const CheckpointCost& cost) {
    return std::max(cost.of_training() / checkpoint_share_max, 2 * cost.until_safe);
}

std::uint64_t best_marks_apart(double interval, double least, double mark_s) {
    if (!(mark_s > 0)) return 1;
    const double marks = std::clamp(std::max(interval, least) / mark_s, 1.0, marks_apart_most);
    const std::uint64_t power = std::bit_floor(static_cast<std::uint64_t>(marks));
    std::uint64_t best = 2 * power;
    const auto ratio = [marks](std::uint64_t it) {
        return std::max(marks / static_cast<double>(it), static_cast<double>(it) / marks);
    };
    for (const std::uint64_t it : {power, power + power / 2})
        if (static_cast<double>(it) * mark_s >= least && ratio(it) < ratio(best)) best = it;
    return best;
}

CheckpointCost expected_cost(std::uint64_t bytes) {
    return {0, expected_s_per_byte * static_cast<double>(bytes), 0};
}

void CheckpointPace::knows(double seconds, std::uint64_t faults) {
    seconds_before_ = seconds;
    faults_ = faults;
}

void CheckpointPace::took(const CheckpointCost& cost) {
    const double weight = checkpoints_++ == 0 ? 1 : 0.3;
    const auto mixed = [weight](double& known, double newest) {
        known += weight * (newest - known);
    };
    mixed(cost_.still, cost.still);
    mixed(cost_.processor, cost.processor);
    mixed(cost_.until_safe, cost.until_safe);
}

double CheckpointPace::mtbf() const {
    return (mtbf_ + seconds_before_ + seconds_) / static_cast<double>(1 + faults_);
}

}  // namespace ako
