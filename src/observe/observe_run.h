// What is published of a peer of a cluster file, and where.
#pragma once

#include <optional>

#include "src/config/cluster_settings.h"
#include "src/observe/observed.h"

namespace ako {

/// Where this peer listens for those who observe it; nothing if nobody is observed.
struct ObserveAddress {
    std::string host;
    unsigned port = 0;
};
std::optional<ObserveAddress> observe_address(const Settings& settings, PeerIndex peer);

/// What does not change during the run.
ObservedRun observed_run(const Settings& settings, PeerIndex self);

}  // namespace ako
