// Runs that never ran, for tests of what a comparison makes of its results: every cell's curve is a
// straight line to 100 % that a contender's speed decides.
#pragma once

#include <functional>
#include <string>

#include "src/compare/agenda.h"
#include "src/compare/plan.h"

namespace ako::test {

inline std::string plan_text(const std::string& more) {
    return "name: fake\n"
           "cluster: {model: synthetic, training: {epochs: 8}}\n"
           "machines: 4\n" +
           more;
}

/// Without one machine alone, so that a test counts the cells of its own contenders.
inline Plan plan_of(const std::string& more) {
    return read_plan_text(plan_text(more), "plan.yaml", {"alone=false"});
}

/// With it, as where a plan does not say.
inline Plan plan_with_alone(const std::string& more) {
    return read_plan_text(plan_text(more), "plan.yaml", {});
}

/// Reaches 100 % after `rounds` rounds of so many seconds, in ten points.
inline CellResult straight_run(double rounds, double round_seconds) {
    CellResult result;
    for (int k = 1; k <= 10; ++k) {
        RunPoint point;
        point.round = rounds * k / 10;
        point.seconds = point.round * round_seconds;
        point.accuracy = k / 10.0;
        result.curve.points.push_back(point);
    }
    result.seconds = rounds * round_seconds;
    return result;
}

/// Runs the plan to its end; returns the results. `made` gets the cells in order.
inline ResultSet run_all(const Plan& plan, const std::function<CellResult(const Cell&)>& run,
                         std::vector<Cell>& made) {
    ResultSet results;
    while (const std::optional<Cell> cell = next_cell(plan, results)) {
        made.push_back(*cell);
        results.put(*cell, run(*cell));
    }
    return results;
}

}  // namespace ako::test
