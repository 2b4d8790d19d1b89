// The charts of the report: which plots there are of a comparison's outcomes. Pure functions; any
// thread.
#pragma once

#include <string>
#include <vector>

#include "src/compare/outcome.h"
#include "src/plot/chart.h"

namespace ako {

/// The charts of one setting: accuracy against time and against rounds at every rate, and, with
/// several rates, the time to each target against the rate.
std::vector<Chart> charts_of(const Plan& plan, const std::vector<Outcome>& outcomes,
                             const Setting& setting);

/// The colour of a contender in plots and tables alike: its place in the plan.
std::size_t colour_of(const Plan& plan, const std::string& contender);

}  // namespace ako
