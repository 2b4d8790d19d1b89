// A spread: the median of some values and the range they lie in. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace ako {

struct Spread {
    double median = 0;
    double low = 0;
    double high = 0;
    std::size_t count = 0;
};

/// Of an even number of values the median is the mean of the middle two. None of nothing.
inline std::optional<Spread> spread_of(std::vector<double> values) {
    if (values.empty()) return std::nullopt;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    const double median =
        values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
    return Spread{median, values.front(), values.back(), values.size()};
}

}  // namespace ako
