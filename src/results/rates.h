// Rates of what was counted, and numbers as files have them. Functions; any thread.
#pragma once

#include <cmath>
#include <cstdint>

namespace ako {

/// Six digits after the point: more than a test set can tell, and no noise of float32.
inline double rounded(double number) { return std::round(number * 1e6) / 1e6; }
/// For people and plots, not for arithmetic.
inline double thousandths(double number) { return std::round(number * 1e3) / 1e3; }

/// The rate at which a count of bytes rose from `before` to `after` in so many seconds.
inline double mbit_between(std::uint64_t before, std::uint64_t after, double seconds) {
    constexpr double bits_per_byte = 8;
    return static_cast<double>(after - before) * bits_per_byte / seconds / 1e6;
}

}  // namespace ako
