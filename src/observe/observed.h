// What is published of a peer that runs: who it is, who the others are, and its newest metrics
// line. Values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/results/metrics_line.h"

namespace ako {

/// One peer of the file, and where it is observed.
struct ObservedPeer {
    std::string name;
    std::string host;  ///< of its address, as others dial it
    unsigned port = 0;
    bool serves_only = false;  ///< a parameter server of its own
};

/// Constant during a run.
struct ObservedRun {
    std::string run;
    std::string peer;  ///< whose metrics these are
    std::string mode;
    std::string model;
    std::string version;
    std::string commit;
    std::vector<ObservedPeer> peers;  ///< all, in the order of the file
    /// Bytes that this peer was expected to need, by purpose.
    std::map<std::string, std::uint64_t> memory = {};
};

struct Observed {
    ObservedRun run;
    MetricsLine line;
    double age = 0;  ///< seconds since it was posted, when it was asked for
};

}  // namespace ako
