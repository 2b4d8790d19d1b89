// Which of several runs is the better one: whoever reaches the higher target, and of those whoever
// reaches it earlier; where none is reached, whoever is more accurate at the moment at which the
// first of them had ended. The same for every contender, in the screening and in the comparison.
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "src/compare/accuracy_curve.h"
#include "src/compare/spread.h"

namespace ako {

/// When a target was reached, over seeds. A seed that failed or never reached it counts as later
/// than all others, so there is no median if that is half of them.
struct TargetReach {
    double target = 0;
    std::size_t reached = 0;
    std::size_t count = 0;          ///< seeds
    std::optional<Spread> seconds;  ///< low and high: of those that reached it
    std::optional<Spread> rounds;
};
TargetReach target_reach(const std::vector<AccuracyCurve>& seeds, double target);

/// The runs of one candidate: a curve per seed, empty where it failed.
using SeedCurves = std::vector<AccuracyCurve>;

/// The places of the candidates, best first. Equal ones keep their order.
std::vector<std::size_t> ranking(const std::vector<SeedCurves>& candidates,
                                 const std::vector<double>& targets);

}  // namespace ako
