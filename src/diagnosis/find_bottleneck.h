// Finds what limits a cluster: from how its peers use their machines and links, and not from how
// they are configured. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "src/results/bottleneck.h"
#include "src/results/metrics_line.h"

namespace ako {

/// One peer as it was seen.
struct SeenPeer {
    std::string name;
    bool serves_only = false;  ///< a parameter server of its own
    const MetricsLine* line = nullptr;
};

/// What these peers, all of a cluster that are heard of, are limited by. In one in which all wait
/// for each other (`lockstep`) a link limits by making the others wait; in the mode ako by making
/// rows old. A peer whose newest line knows no usage is left out.
Bottleneck find_bottleneck(const std::vector<SeenPeer>& peers, bool lockstep);

}  // namespace ako
