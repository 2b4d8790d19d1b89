// The figures of a comparison as CSV (RFC 4180): the first row names the columns; nothing stands
// where there is no figure. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "src/compare/outcome.h"

namespace ako {

std::string targets_csv(const Plan& plan, const std::vector<Outcome>& outcomes);
std::string figures_csv(const std::vector<Outcome>& outcomes);
std::string curves_csv(const std::vector<Outcome>& outcomes);
std::string cells_csv(const ResultSet& results);

}  // namespace ako
