// Is every value of a span finite, and of a magnitude that a row can have?
#pragma once

#include <bit>
#include <cstdint>
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

/// The largest magnitude of a value in a row. A float32 has 24 bits: beyond 2^24 rounding swallows
/// a change of 1, so rows that large cannot add up to parameters any more, and their owner
/// diverges. Up to it the sum of 64 rows, and the products of a few layers with it, are far from
/// what is infinite: an owner that diverges does not take the others with it.
inline constexpr float row_magnitude_max = 16'777'216.0f;

/// Finite and at most that large. Without its sign a float32 compares as its bits do, infinities
/// and NaNs being the largest: the difference to the limit is negative, which is its uppermost bit,
/// for all that is beyond it. Whole numbers throughout, so that the compiler makes vectors of it.
inline bool all_in_row_bounds(std::span<const float> values) {
    constexpr auto limit = std::bit_cast<std::uint32_t>(row_magnitude_max);
    const auto below_limit = [](float value) {
        return limit - (std::bit_cast<std::uint32_t>(value) & 0x7fff'ffffU);
    };
    std::uint32_t differences[8] = {};
    std::size_t k = 0;
    for (; k + 8 <= values.size(); k += 8) {
        for (std::size_t lane = 0; lane < 8; ++lane)
            differences[lane] |= below_limit(values[k + lane]);
    }
    for (; k < values.size(); ++k) differences[0] |= below_limit(values[k]);
    std::uint32_t any = 0;
    for (const std::uint32_t lane : differences) any |= lane;
    return (any >> 31) == 0;
}

}  // namespace ako
