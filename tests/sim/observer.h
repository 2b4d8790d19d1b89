// What is told of a simulated cluster, step by step: the half of a scenario that checks, counts and
// strikes. Called while SimCluster runs; outlives it.
#pragma once

#include <optional>

#include "ako/exchange.h"
#include "tests/sim/sim_peer.h"
#include "tests/sim/violation.h"

namespace ako::sim {

class Observer {
  public:
    virtual ~Observer() = default;

    /// Its process has begun.
    virtual void started(SimPeer&) {}
    /// It has asked what is next; nothing: it waits.
    virtual void began(SimPeer&, const std::optional<Next>&) {}
    /// The gradient of another of its layers is with the exchange.
    virtual void gave_layer(SimPeer&) {}
    /// That of its last layer is, and so all of it.
    virtual void gave_gradient(SimPeer&) {}
    virtual void ended_round(SimPeer&) {}
    /// It has made a step of the final exchange.
    virtual void finishes(SimPeer&) {}
    virtual void died(SimPeer&, bool /*silently*/) {}
    /// It has left, on purpose, while the others go on; its report is there.
    virtual void left(SimPeer&) {}
    /// Is the run not over before it has ended?
    virtual bool awaited(const SimPeer&) const { return true; }
    /// It will not train, or not any more, and there is nothing to finish.
    virtual void gave_up(SimPeer&, const Next& next) {
        if (next.ending == Ending::broken) return;
        throw Violation("a peer cannot train: " + next.why);
    }
};

}  // namespace ako::sim
