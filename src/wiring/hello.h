// What a peer says of itself when it connects: what must match between all peers, and which process
// it is. Functions; any thread.
#pragma once

#include <cstdint>

#include "ako/frame.h"
#include "src/config/cluster_settings.h"
#include "src/wiring/brought.h"

namespace ako {

/// Fit to be part of an incarnation; never 0, which stands for no process.
std::uint64_t random_process_id();

Hello make_hello(const Settings& settings, PeerIndex self, std::uint64_t process_id,
                 const Brought& brought);

}  // namespace ako
