// Is every value of a span finite?
#pragma once

#include <span>

namespace ako {

/// 0 * x is 0 for a finite x and NaN for an infinity or a NaN, so the sum of all is 0 or NaN: one
/// multiply-add per value and no branch. (Never compiled with -ffast-math.)
inline bool all_finite(std::span<const float> values) {
    float sums[8] = {};
    std::size_t k = 0;
    for (; k + 8 <= values.size(); k += 8) {
        for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += 0.0f * values[k + lane];
    }
    for (; k < values.size(); ++k) sums[0] += 0.0f * values[k];
    float sum = 0;
    for (const float lane : sums) sum += lane;
    return sum == 0.0f;
}

}  // namespace ako
