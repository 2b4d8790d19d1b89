// Whether a peer is well, for who starts again or reports what is not: /health, and the health
// check of its container. Pure; any thread.
#pragma once

#include <chrono>
#include <string>

#include "src/observe/board.h"

namespace ako {

/// A peer posts once a second, or after each round that takes longer, while it waits as well. So
/// long without one is longer than any round that is worth making; it hangs.
inline constexpr std::chrono::seconds stands_still_after{60};
/// Does a peer whose newest line is so many seconds old?
inline bool stands_still(double age) {
    return std::chrono::duration<double>(age) >= stands_still_after;
}

struct Health {
    bool is_well = false;
    std::string words;  ///< of one line: who it is, what it does, or what it lacks
};

/// Well is who has posted, and within the last minute: also who waits for others.
Health health_of(const Board::Post& newest, std::chrono::steady_clock::time_point now);

}  // namespace ako
