// Rates of what was counted, and times as the numbers that files have. Functions; any thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "ako/types.h"

namespace ako {

inline double seconds_of(Time time) { return std::chrono::duration<double>(time).count(); }

/// Of bytes that were counted before and after so many seconds.
inline double mbit_between(std::uint64_t before, std::uint64_t after, double seconds) {
    constexpr double bits_per_byte = 8;
    return static_cast<double>(after - before) * bits_per_byte / seconds / 1e6;
}

}  // namespace ako
