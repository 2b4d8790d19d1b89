// Figures as the report writes them; a dash where there is none. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>

#include "src/compare/ranking.h"
#include "src/compare/spread.h"

namespace ako {

inline constexpr const char* no_figure = "\u2013";

/// With so many digits after the point, times `scale`.
std::string figure_text(const std::optional<double>& value, int digits, double scale = 1);
/// "98.61 %".
std::string percent_text(const std::optional<double>& share, int digits);
/// "38.6 s", "412 s".
std::string seconds_text(double seconds);
/// "38.6 s (36.0 to 41.2)"; of one seed "38.6 s"; "not reached", or by how many of the seeds.
std::string reach_text(const TargetReach& reach);

}  // namespace ako
