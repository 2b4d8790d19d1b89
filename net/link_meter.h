// What the sessions of a link count: bytes both ways, and waits.
// Written by the network thread, read by any. Lifetime: that of its link, or of a session that has
// none yet.
#pragma once

#include <atomic>
#include <cstdint>

#include "ako/types.h"

namespace ako {

struct LinkMeter {
    std::atomic<std::uint64_t> egress_bytes{0};
    std::atomic<std::uint64_t> ingress_bytes{0};
    /// For so long frames waited: for room in the socket, or for a limit of what may be sent.
    std::atomic<Time::rep> waited{0};
};

}  // namespace ako
