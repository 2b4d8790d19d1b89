// How the transport of one peer is set up, out of the cluster file. A function; any thread.
#pragma once

#include <functional>
#include <string>

#include "net/tcp_transport.h"
#include "src/config/cluster_settings.h"

namespace ako {

/// Where a peer tells what happens to it; any thread.
struct PeerLog {
    std::function<void(const std::string&)> notice;  ///< for people
    std::function<void(const std::string&)> detail;  ///< sessions, and attempts that failed
};

TransportSettings transport_settings(const Settings& settings, PeerIndex self, Hello hello,
                                     const ClusterKey& key, const PeerLog& log);

}  // namespace ako
