// The Euclidean norm of a vector of floats. Pure; any thread.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

namespace ako {

/// In several sums, which the compiler adds side by side, in an order that is always the same.
inline double squared_norm(std::span<const float> values) {
    std::array<double, 8> sums{};
    std::size_t k = 0;
    for (; k + sums.size() <= values.size(); k += sums.size())
        for (std::size_t lane = 0; lane < sums.size(); ++lane)
            sums.at(lane) += static_cast<double>(values[k + lane]) * values[k + lane];
    for (; k < values.size(); ++k) sums[0] += static_cast<double>(values[k]) * values[k];
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

inline double norm(std::span<const float> values) { return std::sqrt(squared_norm(values)); }

}  // namespace ako
