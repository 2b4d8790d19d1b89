// What is done to a cluster: carries out the faults that a scenario plans, each at its time or at
// the moment it waits for, and counts those that struck.
#pragma once

#include <functional>
#include <vector>

#include "tests/sim/coverage.h"
#include "tests/sim/scenario.h"
#include "tests/sim/sim_cluster.h"

namespace ako::sim {

class Faults {
  public:
    using Restart = std::function<void(PeerIndex)>;

    /// All outlive this; `cluster` has its peers before `begin`.
    Faults(const Scenario& scenario, SimCluster& cluster, Coverage& coverage, Restart restart);

    /// Sets the links up and plans everything that has a time. Once.
    void begin();
    /// `peer` has just come.
    void started(PeerIndex peer);
    void first_stopped();
    void first_accepted(PeerIndex peer);
    void first_decided(PeerIndex peer);

    /// How long the compute thread of `peer` still stands, while the network thread goes on.
    Time hang(PeerIndex peer);

    /// Peers that were asked for the end.
    PeerSet asked() const { return asked_; }

  private:
    void set_links();
    void cut(PeerSet one_side, Time until);
    void cut_off(PeerIndex peer, Time time);
    void pause(PeerIndex peer);
    void wish_to_stop();
    void insist(PeerIndex peer);
    void change_rates();

    const Scenario& scenario_;
    SimCluster& cluster_;
    World& world_;
    Random& random_;
    SimNetwork& network_;
    Coverage& coverage_;
    const Restart restart_;
    std::vector<bool> hung_;  ///< [peer]: counted
    bool someone_stopped_ = false;
    PeerSet asked_ = 0;
};

}  // namespace ako::sim
