// What the kernel knows of the path of a TCP connection. Linux only.
// Thread: network.
#pragma once

#include <cstdint>
#include <optional>

namespace ako {

struct TcpPath {
    double round_trip_ms = 0;       ///< smoothed
    double delivery_mbit = 0;       ///< the kernel's newest estimate of what arrives there
    std::uint64_t retransmits = 0;  ///< segments of this connection
};

/// Nothing if `socket` is no connection that stands.
std::optional<TcpPath> tcp_path(int socket);

}  // namespace ako
