// One run of the mode `ako` under one scenario: its cluster, with faults that strike, and with the
// checkers of the invariants and of the promises looking on all along.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/numbers/optimizer.h"
#include "tests/sim/ako_peer.h"
#include "tests/sim/coverage.h"
#include "tests/sim/departures_check.h"
#include "tests/sim/faults.h"
#include "tests/sim/invariants.h"
#include "tests/sim/promises.h"
#include "tests/sim/quadratic.h"
#include "tests/sim/scenario.h"
#include "tests/sim/sim_cluster.h"
#include "tests/sim/stays_check.h"

namespace ako::sim {

/// What a run did, for people and for the test that the scenarios are worth something.
struct Outcome {
    std::size_t agreed = 0;      ///< peers
    std::size_t not_agreed = 0;  ///< peers that ended without agreement
    std::size_t dead = 0;
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
};

class AkoRun final : Work, Observer {
  public:
    explicit AkoRun(const Scenario& scenario, RoundCheck* check = nullptr);

    /// Runs to the end. Throws Violation.
    Outcome run();
    const Quadratic& quadratic() const { return quadratic_; }

  private:
    std::unique_ptr<AkoPeer> make_peer(PeerIndex peer, std::uint64_t process_id);
    /// Another process begins under the name of one that died.
    void restart(PeerIndex peer);
    void stopped(PeerIndex peer, const std::string& why);
    void check_refused_blocks();
    Outcome outcome() const;

    float gradient(SimPeer& peer) override;
    Learned learned(SimPeer& peer) override;
    Time backward_time(const SimPeer& peer) override;
    Time idle_time(const SimPeer& peer) override;

    void started(PeerIndex peer) override;
    void began(PeerIndex peer, const std::optional<Next>& next) override;
    void ended_round(PeerIndex peer) override;
    void finishes(PeerIndex peer) override;
    void died(PeerIndex peer, bool silently) override;
    /// A second process that nobody lets in may train for as long as it likes.
    bool awaited(PeerIndex peer) const override { return peer != second_; }

    /// What a round began with.
    struct Begun {
        std::vector<float> replica;
        double rate = 0;
    };

    const Scenario scenario_;
    RoundCheck* const check_;
    SimCluster cluster_;
    const AkoPeers peers_;
    const Quadratic quadratic_;
    Coverage coverage_;
    Faults faults_;
    Promises promises_;
    DeparturesCheck departures_;
    StaysCheck stays_;
    Invariants invariants_;
    /// What a peer steps by, in its own process.
    struct OwnOptimizer {
        Sgd step;
        std::vector<float> update;  ///< of its newest round
    };
    OwnOptimizer make_optimizer() const;

    std::vector<Begun> begun_;         ///< [peer]: its newest round
    std::vector<OwnOptimizer> own_;    ///< [peer], where the scenario says so
    std::optional<PeerIndex> second_;  ///< began anew
    bool someone_stopped_ = false;
    bool someone_accepted_ = false;
    bool someone_decided_ = false;
};

}  // namespace ako::sim
