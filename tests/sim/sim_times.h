// The times of the simulated cluster: the cluster file's, scaled down to rounds of a few
// milliseconds, and those of the stand-ins for the two threads.
#pragma once

#include <chrono>

#include "tests/sim/world.h"

namespace ako::sim {

inline constexpr Time life_timeout = ms(150);
inline constexpr Time want_timeout = ms(40);
inline constexpr Time finish_timeout = ms(6000);
inline constexpr Time leave_timeout = ms(3000);
inline constexpr Time poll_interval = ms(10);  ///< of the traffic half
inline constexpr Time wait_step = ms(4);       ///< of the compute half, while it waits
inline constexpr Time goodbye = ms(100);       ///< from the last word to the end of the process

}  // namespace ako::sim
