// A peer of a run that `ako launch` has started, with what became of its processes. A value of the
// launch; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "src/launch/peer_child.h"

namespace ako {

/// A peer of the run: its process, or the last it had.
struct LaunchChild {
    std::unique_ptr<PeerChild> process;
    bool over = false;                     ///< the process has ended, and all it said is read
    std::optional<double> ended_at = {};   ///< seconds: the process
    bool trained = false;                  ///< this process has
    bool machine_lost = false;             ///< of this process
    bool has_begun = false;                ///< this one or one before it has trained
    std::optional<double> starts_at = {};  ///< seconds: over, and then started again
    /// Totals of the processes before this one.
    std::uint64_t egress_bytes_before = 0;
    std::uint64_t ingress_bytes_before = 0;
};

}  // namespace ako
