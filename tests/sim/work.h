// What the peers of a simulated cluster compute, and how long it takes them: the half of a scenario
// that SimCluster asks for. Called while it runs; outlives it.
#pragma once

#include "ako/types.h"
#include "tests/sim/sim_peer.h"

namespace ako::sim {

class Work {
  public:
    virtual ~Work() = default;

    /// A round of `peer` begins; nothing of the replica has been awaited for it.
    virtual void begins_round(SimPeer&) {}
    /// Writes the gradient of this round of `peer`, at its replica, to `peer.gradient`; the loss.
    virtual float gradient(SimPeer& peer) = 0;
    /// What that round ends with: the gradient, which is given layer by layer before that, or an
    /// update that the peer's own optimizer made.
    virtual Learned learned(SimPeer& peer) { return Gradient{peer.gradient}; }
    /// So many learners made it.
    virtual std::size_t learners(const SimPeer&) { return 1; }
    /// How long its next layer takes in the forward pass, and in the backward pass. Without any
    /// time it goes on at once.
    virtual Time forward_time(const SimPeer&) { return Time{0}; }
    virtual Time backward_time(const SimPeer& peer) = 0;
    /// Does it take what is under way before its next round?
    virtual bool settles(const SimPeer&) { return false; }
    /// May what it gave be refused, for its numbers? Then its process ends.
    virtual bool may_be_refused(const SimPeer&) const { return false; }
    /// How long its compute thread does nothing before it asks what is next, or goes on with the
    /// final exchange. Asked before each such step.
    virtual Time idle_time(const SimPeer&) { return Time{0}; }
};

}  // namespace ako::sim
