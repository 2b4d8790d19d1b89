#include "src/compare/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ako {

namespace {

/// Processes that start, load data, connect and end, and the evaluation's own start: seconds.
constexpr TimeRange around_training{1, 8};
/// What rounds take, in gradients: the update and sockets come to them, and other work of this
/// machine, which the gradient that was timed may have met or not.
constexpr TimeRange beside_gradient{0.8, 1.6};
/// A forward pass beside a whole gradient.
constexpr double forward_share = 1.0 / 3;

}  // namespace

std::string TimeRange::text() const {
    struct Unit {
        double seconds;
        const char* name;
        int digits;
    };
    constexpr std::array<Unit, 3> units = {{{1, "s", 0}, {60, "min", 0}, {3600, "h", 1}}};
    constexpr double enough = 100;  // of one unit: then the next larger one
    const Unit& unit = high < enough                      ? units[0]
                       : high < enough * units[1].seconds ? units[1]
                                                          : units[2];
    return fmt::format("{:.{}f} to {:.{}f} {}", low / unit.seconds, unit.digits,
                       high / unit.seconds, unit.digits, unit.name);
}

TimeRange expected_time(const CellWork& work) {
    const double rounds = work.samples / static_cast<double>(work.trainers * work.batch);
    const double sending =
        work.mbit ? work.bytes_per_round * 8 / 1e6 / *work.mbit : 0;  // seconds of a round
    const double quick = beside_gradient.low * work.gradient.low / work.share;
    const double slow = beside_gradient.high * work.gradient.high / work.smallest_share;
    const double judged = work.evaluations * work.test_samples * forward_share /
                          static_cast<double>(work.batch);  // in gradients
    TimeRange range = around_training;
    // At best all that is sent hides behind the gradient, at worst nothing of it.
    range += {rounds * std::max(quick, sending), rounds * (slow + sending)};
    range += {beside_gradient.low * work.gradient.low * judged,
              beside_gradient.high * work.gradient.high * judged};
    return range;
}

}  // namespace ako
