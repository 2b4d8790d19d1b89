// What keeps strangers out of the links of a cluster: a key, or addresses that they cannot reach.
#pragma once

#include <string>

#include "net/cluster_key.h"
#include "net/exposure.h"
#include "src/config/cluster_settings.h"

namespace ako {

/// The key of the cluster file; none if it names no file. Throws StartupError.
ClusterKey read_cluster_key(const Settings& settings);

/// Refuses now what a peer would refuse when it starts: a key file that is none, or addresses that
/// want a key. Names of hosts are left to the peers. Throws StartupError.
void check_links(const Settings& settings);

/// Refuses an address to be dialled that wants a key, for who has none; apart from where the peer
/// listens, so that the complaint has the key of the one that is wrong. Throws StartupError.
void check_announced(const Settings& settings, PeerIndex peer, Names names);

/// The key that says where a peer listens: "peers.0.listen", or "peers.0.address" if that was left
/// out.
std::string listen_key(const Settings& settings, PeerIndex peer);

}  // namespace ako
