#include "src/compare/rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ako {

namespace {

std::string joined(const Rate& rate, const char* separator) {
    std::string text;
    for (const std::optional<double>& mbit : rate.mbit)
        text += (text.empty() ? "" : separator) + (mbit ? fmt::format("{}", *mbit) : "none");
    return text;
}

}  // namespace

double Rate::lowest() const {
    double lowest = std::numeric_limits<double>::infinity();
    for (const std::optional<double>& one : mbit) lowest = std::min(lowest, one.value_or(lowest));
    return lowest;
}

std::string Rate::text() const {
    if (even() && !mbit.front()) return "no limit";
    return joined(*this, "/") + " Mbit/s";
}

std::string Rate::short_text() const { return joined(*this, "-"); }

}  // namespace ako
