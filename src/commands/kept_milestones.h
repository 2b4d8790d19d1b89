// What the peers of a run kept to be evaluated later (`evaluate: after`), evaluated once none of
// them trains any more: on this machine's whole processor, into the curves of their results.
// Functions; one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "src/config/cluster_settings.h"
#include "src/results/curve.h"
#include "src/results/peer_result.h"

namespace ako {

struct MilestoneCalls {
    /// One is evaluated, number `number` of the `count` of this peer. False: no more shall be, and
    /// the rest stays in the files.
    std::function<bool(const std::string& peer, const CurvePoint& point, std::size_t number,
                       std::size_t count)>
        evaluated;
    /// For people: why one peer's cannot be evaluated. The others' are.
    std::function<void(const std::string&)> say;
};

/// `keep`: the files stay, else they go once all of one is evaluated. Throws StartupError if the
/// test set cannot be had.
void evaluate_kept_milestones(const Settings& settings, const std::string& folder, bool keep,
                              std::vector<PeerResult>& peers, const MilestoneCalls& calls);

}  // namespace ako
