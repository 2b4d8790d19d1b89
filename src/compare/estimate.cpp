#include "src/compare/estimate.h"

#include <fmt/format.h>

#include <array>

namespace ako {

namespace {

/// Processes that start, load data, connect and end, and the evaluation's own start: seconds.
constexpr TimeRange around_training{1, 8};

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
    TimeRange range = around_training;
    range += {rounds * work.round.low, rounds * work.round.high};
    range += {work.evaluations * work.evaluation.low, work.evaluations * work.evaluation.high};
    return range;
}

}  // namespace ako
