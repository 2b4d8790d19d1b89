// What is usual among some values. Pure; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ako {

/// The middle value, with an even number the higher of the middle two, which is one that was seen;
/// `of_none` without values.
inline double usual_of(std::vector<double> values, double of_none) {
    if (values.empty()) return of_none;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace ako
