// The settings of a cell: the plan's cluster file with everything that the cell and its network
// change in it. Any thread.
#pragma once

#include <string>
#include <vector>

#include "src/compare/cell.h"
#include "src/config/cluster_settings.h"

namespace ako {

/// Throws a StartupError that names the contender's place in the plan and what the cluster file's
/// reader says.
Settings cell_settings(const Plan& plan, const Cell& cell,
                       const std::vector<std::string>& network_overrides);

/// All that a run with these settings depends on, as text.
std::string identity_text(Settings settings);

/// Refuses, before anything is run, a plan of which some contender has settings that are refused.
void check_contenders(const Plan& plan);

}  // namespace ako
