// The mode of a cluster file that leaves it to Ako, `exchange.mode: auto`: of those that peers
// could agree by, that whose prediction takes the least time to a target, by the profiles of the
// machines. The same profiles give the same choice everywhere; peers that chose differently refuse
// each other by their settings. Functions; one thread.
#pragma once

#include <string>
#include <vector>

#include "src/config/cluster_settings.h"

namespace ako {

/// As read_cluster_file; where the mode is open it is chosen, and what was chosen told on standard
/// error. Throws StartupError also where there are no profiles, or nothing says what links carry.
Settings read_with_choice(const std::string& file, const std::vector<std::string>& overrides);

/// As read_cluster_file, for those who ask for all modes: an open one is the default.
Settings read_for_all_modes(const std::string& file, std::vector<std::string>& overrides);

}  // namespace ako
