// A whole cluster in virtual time, under one scenario, with the checker of the invariants running
// all along.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/coverage.h"
#include "tests/sim/faults.h"
#include "tests/sim/invariants.h"
#include "tests/sim/promises.h"
#include "tests/sim/scenario.h"
#include "tests/sim/sim_network.h"
#include "tests/sim/sim_peer.h"

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
    /// Observed P of each link, mean over the second half of the run, if steady; [from * n + to].
    std::vector<double> partitions;
};

class SimCluster {
  public:
    explicit SimCluster(const Scenario& scenario);
    ~SimCluster() { network_.drop_all(); }

    /// Runs to the end. Throws Violation.
    Outcome run();

  private:
    std::unique_ptr<SimPeer> make_peer(PeerIndex peer, std::uint64_t process_id);
    void start(PeerIndex peer);
    /// Another process begins under the name of one that died.
    void restart(PeerIndex peer);
    bool is_second(PeerIndex peer) const {
        return first_life_ != nullptr && first_life_->settings.self == peer;
    }
    /// If the process that runs now still does then.
    void after(PeerIndex peer, Time delay, std::function<void()> what);
    void compute(PeerIndex peer);
    void train(PeerIndex peer);
    void end_round(PeerIndex peer, const std::vector<float>& before,
                   const std::vector<float>& gradient);
    void finish(PeerIndex peer);
    void end(PeerIndex peer);
    void poll(PeerIndex peer);
    void kill(PeerIndex peer, bool silently);
    void check_steady(PeerIndex peer);
    void check_bounded(PeerIndex peer) const;
    void check_no_wait_timed_out(PeerIndex peer) const;
    bool over() const;
    double loss(std::span<const float> parameters) const;
    Outcome outcome() const;

    const Scenario scenario_;
    Random random_;
    World world_;
    std::vector<float> initial_;
    std::vector<std::vector<float>> optima_;  ///< [peer]: of its share of the data
    SimNetwork network_;
    std::vector<std::unique_ptr<SimPeer>> peers_;
    std::unique_ptr<SimPeer> first_life_;  ///< of the peer that began anew
    Coverage coverage_;
    Faults faults_;
    Promises promises_;
    std::unique_ptr<Invariants> invariants_;
    std::vector<double> partitions_;  ///< see Outcome
    bool someone_stopped_ = false;
    bool someone_accepted_ = false;
    bool someone_decided_ = false;
};

}  // namespace ako::sim
