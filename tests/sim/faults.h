// What is done to a cluster: carries out the faults of a schedule, each at its time or at the
// moment it waits for, counts those that struck, and remembers whom and for how long.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "tests/sim/coverage.h"
#include "tests/sim/scenario.h"
#include "tests/sim/sim_cluster.h"

namespace ako::sim {

struct AkoPeer;

/// A fault that struck a peer, from when to when.
struct Strike {
    FaultKind kind = FaultKind::kill;
    PeerIndex peer = 0;
    Time from{0};
    Time until{0};
    PeerSet side = 0;  ///< of what breaks between two sides: one of them
};

class Faults {
  public:
    /// Another process is to begin under that name now.
    using BeginAnew = std::function<void(PeerIndex, bool elsewhere)>;

    /// All outlive this; `cluster` has its peers before `begin`.
    Faults(const Scenario& scenario, SimCluster& cluster, Coverage& coverage, BeginAnew begin_anew);

    /// Sets the links up and plans everything that has a time. Once.
    void begin();
    /// A process has just begun.
    void started(SimPeer& peer);
    /// `who` has come to that point; only the first to do so pulls a trigger.
    void pulled(Trigger trigger, SimPeer& who);
    /// It is in another phase than before.
    void entered(const SimPeer& peer, Phase phase);

    /// How long the compute thread of `peer` still stands, while the network thread goes on.
    Time hang(const SimPeer& peer) const;
    /// What its rounds give is so many times as large as it should be.
    double explosion(const SimPeer& peer) const;
    /// It is so of somebody.
    bool explodes() const { return !explosions_.empty(); }

    /// Peers that were asked for the end.
    PeerSet asked() const { return asked_; }
    const std::vector<Strike>& struck() const { return struck_; }
    /// A fault of this kind struck this peer, and lay within these moments in part.
    bool struck(FaultKind kind, PeerIndex peer, Time from, Time until) const;
    /// The last moment at which anything was done, or ended.
    Time quiet_since() const;

  private:
    void set_links();
    bool is_first(const SimPeer& peer) const;
    void plan(const Fault& fault, std::optional<PeerIndex> who);
    void strike(const Fault& fault, std::optional<PeerIndex> who);
    void strike_peer(const Fault& fault, PeerIndex peer);
    void strike_ways(const Fault& fault, PeerSet side);
    void ask_to_leave(const Fault& fault, AkoPeer& peer);
    void stand_still(const Fault& fault, SimPeer& peer);
    void begin_again(const Fault& fault, SimPeer& peer);
    /// It strikes this peer now.
    Strike& note(const Fault& fault, const SimPeer& peer);
    void wish_to_stop(const Fault& wish);
    void insist(const Fault& wish, PeerIndex peer);
    void change_rates();

    const Scenario& scenario_;
    SimCluster& cluster_;
    World& world_;
    Random& random_;
    SimNetwork& network_;
    Coverage& coverage_;
    const BeginAnew begin_anew_;
    std::vector<Strike> struck_;
    PeerSet pulled_ = 0;                          ///< triggers, a bit each
    std::vector<Schedule> deferred_;              ///< [peer]: until its process begins
    std::map<const SimPeer*, Time> hangs_until_;  ///< its compute thread
    std::map<const SimPeer*, double> explosions_;
    bool someone_stopped_ = false;
    PeerSet asked_ = 0;
};

}  // namespace ako::sim
