// The services of a Compose file: each peer has one in every group, and every service its name, its
// results and a port of its own. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/config/cluster_settings.h"

namespace ako {

/// A way in which all peers are run.
struct PeerGroup {
    /// With which its services are started, and how their names end; empty: those that always are.
    std::string profile;
    /// Between its ports of observers and those of the cluster file.
    unsigned port_distance = 0;
};

inline const PeerGroup group_as_written{"", 0};
/// The same peers on a parameter server.
inline const PeerGroup group_baseline{"baseline", 100};
/// Each with a share of a processor and of a network.
inline const PeerGroup group_limits{"limits", 200};
// As many ports lie between two groups as peers may be, and more.

/// The service that scrapes all peers.
inline constexpr const char* prometheus_service = "prometheus";

/// The service of a peer, which is its host name, too.
std::string service_name(const PeerSettings& peer, const PeerGroup& group);

/// Where a peer is observed, in its container and at the host alike; nothing if nobody is observed.
std::optional<unsigned> observe_port(const Settings& settings, PeerIndex peer,
                                     const PeerGroup& group);

/// Can the peers reach one another at the file's own addresses? Only where each is the name of its
/// service, and the peer listens there or everywhere.
bool addresses_fit(const Settings& settings);

/// Throws StartupError: two services would have one name, or there are not ports enough.
void check_services(const Settings& settings, const std::vector<PeerGroup>& groups);

}  // namespace ako
