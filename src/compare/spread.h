// What some values come to: their spread, which is the median and the range they lie in, and their
// mean. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <vector>

namespace ako {

struct Spread {
    double median = 0;
    double low = 0;
    double high = 0;
    std::size_t count = 0;
};

/// The median of an even number of values is the mean of the middle two; nullopt: no values.
inline std::optional<Spread> spread_of(std::vector<double> values) {
    if (values.empty()) return std::nullopt;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    const double median =
        values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
    return Spread{median, values.front(), values.back(), values.size()};
}

/// The same where infinite values stand for runs that failed or never got there: those count in the
/// median, but not in range and count. nullopt if the median is infinite, or without values.
inline std::optional<Spread> spread_of_finite(const std::vector<double>& values) {
    std::vector<double> finite = values;
    std::erase_if(finite, [](double value) { return std::isinf(value); });
    const std::optional<Spread> all = spread_of(values);
    const std::optional<Spread> those = spread_of(finite);
    if (!all || !those || std::isinf(all->median)) return std::nullopt;
    return Spread{all->median, those->low, those->high, those->count};
}

/// nullopt: no values.
inline std::optional<double> mean(const std::vector<double>& values) {
    if (values.empty()) return std::nullopt;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace ako
