#include "src/compare/figure_text.h"

#include <fmt/format.h>

#include <cmath>

namespace ako {

namespace {

/// Three digits that count.
std::string rounded(double value) {
    if (value >= 100) return fmt::format("{:.0f}", value);
    return fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
}

}  // namespace

std::string figure_text(const std::optional<double>& value, int digits, double scale) {
    if (!value || !std::isfinite(*value)) return no_figure;
    return fmt::format("{:.{}f}", *value * scale, digits);
}

std::string percent_text(const std::optional<double>& share, int digits) {
    if (!share || !std::isfinite(*share)) return no_figure;
    return fmt::format("{:.{}f} %", *share * 100, digits);
}

std::string seconds_text(double seconds) { return rounded(seconds) + " s"; }

std::string reach_text(const TargetReach& reach) {
    if (reach.reached == 0) return reach.count == 0 ? no_figure : "not reached";
    const std::string by = reach.reached == reach.count
                               ? ""
                               : fmt::format("{} of {} seeds", reach.reached, reach.count);
    if (!reach.seconds) return "reached by " + by;
    std::string text = seconds_text(reach.seconds->median);
    if (reach.reached > 1)
        text +=
            fmt::format(" ({} to {})", rounded(reach.seconds->low), rounded(reach.seconds->high));
    return by.empty() ? text : text + ", " + by;
}

}  // namespace ako
