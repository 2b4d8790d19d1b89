// One run of the mode `ako` under one scenario: its cluster, with faults that strike, and with the
// checkers of the invariants and of the promises looking on all along.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/numbers/optimizer.h"
#include "tests/sim/agreement_check.h"
#include "tests/sim/ako_peer.h"
#include "tests/sim/coverage.h"
#include "tests/sim/departures_check.h"
#include "tests/sim/faults.h"
#include "tests/sim/invariants.h"
#include "tests/sim/joining_check.h"
#include "tests/sim/liveness_check.h"
#include "tests/sim/promises.h"
#include "tests/sim/quadratic.h"
#include "tests/sim/scenario.h"
#include "tests/sim/sim_cluster.h"
#include "tests/sim/stays_check.h"

namespace ako::sim {

/// What a run did, for people and for the test that the scenarios are worth something.
struct Outcome {
    std::size_t agreed = 0;      ///< processes
    std::size_t not_agreed = 0;  ///< processes that ended without agreement
    std::size_t dead = 0;        ///< processes that were ended, or gave up
    std::uint64_t frames = 0;
    std::uint64_t blocks = 0;  ///< checked against the past
    std::uint64_t rounds = 0;
    Coverage coverage;
    double seconds = 0;     ///< virtual
    double loss_first = 0;  ///< of the quadratic at the initial parameters
    double loss_last = 0;   ///< and at the agreed anchor (of any peer)
};

/// What has to hold beside, in the scenarios of one kind. Throws Violation. Outlives its run.
class RoundCheck {
  public:
    virtual ~RoundCheck() = default;
    /// `peer` may train.
    virtual void may_train(const AkoPeers& peers, PeerIndex peer, const Invariants& invariants,
                           Time now) = 0;
    /// `peer` has heard that training is over.
    virtual void stopped(const AkoPeers&, PeerIndex) {}
    /// A peer says this to people.
    virtual void said(const std::string&) {}
};

class AkoRun final : Work, Observer {
  public:
    explicit AkoRun(const Scenario& scenario, RoundCheck* check = nullptr);

    /// Runs to the end. Throws Violation.
    Outcome run();
    const Quadratic& quadratic() const { return quadratic_; }

  private:
    std::unique_ptr<AkoPeer> make_peer(PeerIndex peer);
    void show(PeerIndex peer, std::uint64_t process_id, const std::string& line) const;
    /// Another process begins under a name that has one.
    void begin_anew(PeerIndex peer, bool elsewhere);
    void watch();
    const AkoPeer& process(EndIndex end) const { return *processes_[end]; }
    /// It has made a step: what all steps have in common.
    void stepped(AkoPeer& peer, bool stops);
    void look_at_claim(AkoPeer& peer, bool stops);
    void stopped(AkoPeer& peer, const std::string& why);
    /// Its newest process is the one that the promises are asked of.
    bool counts(const SimPeer& peer) const { return cluster_.is_newest(peer); }
    void check_refused_blocks();
    Outcome outcome() const;

    float gradient(SimPeer& peer) override;
    Learned learned(SimPeer& peer) override;
    Time backward_time(const SimPeer& peer) override;
    Time idle_time(const SimPeer& peer) override { return faults_.hang(peer); }
    /// Growth that is just not refused may drive the others' gradients as well.
    bool may_be_refused(const SimPeer&) const override { return faults_.explodes(); }

    void started(SimPeer& peer) override;
    void began(SimPeer& peer, const std::optional<Next>& next) override;
    void gave_layer(SimPeer& peer) override;
    void ended_round(SimPeer& peer) override;
    void finishes(SimPeer& peer) override;
    void died(SimPeer& peer, bool silently) override;
    void left(SimPeer& peer) override;
    void gave_up(SimPeer& peer, const Next& next) override;

    /// What a round began with.
    struct Begun {
        std::vector<float> replica;
        double rate = 0;
    };

    /// What a peer steps by, in its own process.
    struct OwnOptimizer {
        Sgd step;
        std::vector<float> update;  ///< of its newest round
    };
    OwnOptimizer make_optimizer() const;

    /// What is known of one process.
    struct State {
        Begun begun;
        std::optional<OwnOptimizer> own;  ///< where the scenario says so
        std::optional<Phase> phase;
        Incarnation incarnation = 0;  ///< of the row that it has claimed last
        bool had_vote = true;
        bool stopped = false;
    };

    const Scenario scenario_;
    RoundCheck* const check_;
    Random process_ids_;
    SimCluster cluster_;
    const AkoPeers peers_;
    const Quadratic quadratic_;
    Coverage coverage_;
    Faults faults_;
    Promises promises_;
    DeparturesCheck departures_;
    StaysCheck stays_;
    Invariants invariants_;
    AgreementCheck agreement_;
    JoiningCheck joining_;
    LivenessCheck liveness_;
    std::map<const SimPeer*, State> states_;
    std::vector<const AkoPeer*> processes_;  ///< [end]
    std::vector<unsigned> begun_;            ///< [peer]: processes
};

}  // namespace ako::sim
