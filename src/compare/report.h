// The report: report.html, one file that needs no network and no script, with the plots beside it
// as SVG and the figures as CSV:
//
//   report.html
//   plots/*.svg    each with the script that gnuplot drew it from
//   targets.csv    a row per contender, variant, setting, rate and target
//   figures.csv    a row per contender, variant, setting and rate
//   curves.csv     a row per point of every curve
//   cells.csv      a row per cell that was run
#pragma once

#include <string>

#include "src/compare/cell_result.h"

namespace ako {

/// Writes all of it into the plan's folder, of what has been run so far; returns the path of
/// report.html. Throws StartupError; so it does without a single result, and leaves what an earlier
/// call wrote as it is.
std::string write_report(const Plan& plan, const ResultSet& results, const std::string& commit);

}  // namespace ako
