// How long a comparison will take, for `ako compare --list`. Times one gradient; reads the data set
// and the plan's results, and writes nothing. One thread.
#pragma once

#include <string>
#include <vector>

#include "src/compare/cell_network.h"

namespace ako {

/// How long what has not been run yet will take, for people: "time: about 25 to 70 min, by ..". If
/// the data set that this takes is not there, it says so.
std::string comparison_time_text(const Plan& plan, const std::vector<Cell>& cells,
                                 const CellNetwork& network);

}  // namespace ako
