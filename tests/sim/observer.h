// What is told of a simulated cluster, step by step: the half of a scenario that checks, counts and
// strikes. Called while SimCluster runs; outlives it.
#pragma once

#include <optional>

#include "ako/exchange.h"
#include "ako/types.h"

namespace ako::sim {

class Observer {
  public:
    virtual ~Observer() = default;

    /// Its process has begun.
    virtual void started(PeerIndex) {}
    /// It has asked what is next; nothing: it waits.
    virtual void began(PeerIndex, const std::optional<Next>&) {}
    /// The gradient of its last layer is with the exchange, and so all of it.
    virtual void gave_gradient(PeerIndex) {}
    virtual void ended_round(PeerIndex) {}
    /// It has made a step of the final exchange.
    virtual void finishes(PeerIndex) {}
    virtual void died(PeerIndex, bool /*silently*/) {}

    /// Is the run not over before it has ended?
    virtual bool awaited(PeerIndex) const { return true; }
};

}  // namespace ako::sim
