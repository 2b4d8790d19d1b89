// What keeps strangers out of the links of a cluster: a key, or addresses that they cannot reach.
#pragma once

#include <string>

#include "net/cluster_key.h"
#include "src/config/settings.h"

namespace ako {

/// The key of the cluster file; none if it names no file. Throws StartupError.
ClusterKey read_cluster_key(const Settings& settings);

/// Refuses now what a peer would refuse when it starts: a key file that is none, or addresses that
/// want a key. Names of hosts are left to the peers. Throws StartupError.
void check_links(const Settings& settings);

}  // namespace ako
