// The measurement of a cluster's links over the transport that a run would use: its addresses, key
// and limits. Peers that measure and peers that train refuse each other. A function; one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ako/probe.h"
#include "src/config/cluster_settings.h"
#include "src/probe/pair_probe.h"
#include "src/wiring/transport_settings.h"

namespace ako {

struct NetworkCheckCalls {
    PeerLog log;
    /// What has not come yet of all that are listed, whenever that has changed.
    std::function<void(const std::vector<PeerIndex>& missing)> waits;
};

/// Takes part as these peers of the file, each with a port and a thread of its own, until all have
/// the figures of all pairs: by asker, then asked. Throws StartupError: a port that is taken, an
/// address of another machine, peers that did not come, a session that broke.
std::vector<PairFigures> check_network(const Settings& settings, const std::vector<PeerIndex>& here,
                                       const ProbeTimes& times, const NetworkCheckCalls& calls);

}  // namespace ako
