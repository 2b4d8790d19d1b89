// Has the machine of a peer been lost? What stands between launch and another machine may know it
// only after a minute; the other peers know it within seconds. Pure; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "src/screen/run_state.h"

namespace ako {

/// Its lines have not come for a while, and to all others of whom some do it is lost; or all others
/// have ended, and it has been silent for longer. One that is stopped for some seconds, or is in a
/// long round, is not. `now`: as RunState has its seconds.
bool has_lost_machine(const std::vector<PeerState>& peers, std::size_t peer, double now);

}  // namespace ako
