// That every process comes to an end: by a time that follows from the schedule of faults; and, once
// nothing is done to the cluster any more, within what joining and the final exchange take. Two
// processes of one name, too, one of which must notice.
#pragma once

#include <map>
#include <optional>

#include "tests/sim/ako_peer.h"
#include "tests/sim/faults.h"
#include "tests/sim/scenario.h"

namespace ako::sim {

/// The virtual time by which all peers must have ended; one that has not hangs. It may have trained
/// alone, for the whole budget, and each fault may have held it up for as long as it lasted.
Time deadline_of(const Scenario& scenario);

class LivenessCheck {
  public:
    /// All outlive this.
    LivenessCheck(const Scenario& scenario, const SimCluster& cluster, const Faults& faults)
        : scenario_(scenario), cluster_(cluster), faults_(faults) {}

    /// `peer` has made a step.
    void stepped(const AkoPeer& peer);
    void stopped(const AkoPeer& peer);
    /// It has left on purpose.
    void left(const AkoPeer& peer) const;
    /// All have ended or died.
    void ended() const;

  private:
    struct Times {
        std::optional<Time> joining_since;
        std::optional<Time> stopped_at;
    };

    /// What was done or began until then.
    Time quiet_since(Time until) const;
    void check_joining(const AkoPeer& peer, Time since) const;

    const Scenario& scenario_;
    const SimCluster& cluster_;
    const Faults& faults_;
    std::map<const AkoPeer*, Times> times_;
};

}  // namespace ako::sim
