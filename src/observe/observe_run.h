// What is published of a peer of a cluster file, and where.
#pragma once

#include "src/config/cluster_settings.h"
#include "src/observe/observed.h"

namespace ako {

/// What does not change during the run.
ObservedRun observed_run(const Settings& settings, PeerIndex self);

}  // namespace ako
