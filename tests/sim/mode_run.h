// One run of a mode, usually one that exchanges buckets, under one scenario: its cluster, how every
// peer ended, and what went over the network for it. Layers are awaited, computed and given back
// one by one, as in a network.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/buckets/buckets.h"
#include "src/training/learners.h"
#include "tests/sim/sim_cluster.h"

namespace ako::sim {

/// One peer, and what happens to it.
struct ModePlan {
    Time round_time = ms(10);
    std::optional<Time> killed_at;
    bool killed_silently = false;
    std::optional<Round> stops_at;  ///< this peer asks for a stop after so many rounds
    bool may_be_refused = false;    ///< for its numbers: then its process ends
};

/// For less than the life time-out nothing goes on at one place: that changes no result.
struct Hitch {
    Time at{0};
    Time lasts{0};
    PeerIndex peer = 0;
    /// Nothing from `peer` arrives there meanwhile; without it the whole process stands still.
    std::optional<PeerIndex> towards;
};

struct ModeScenario {
    std::uint64_t seed = 1;
    ModeSettings settings;  ///< of every peer, but for `self`
    std::vector<ModePlan> peers;
    LinkQuality quality;  ///< of every link; delays are drawn from half to twice its own
    std::optional<PeerIndex> slow_link;  ///< from this peer to the next: a tenth of the others
    std::vector<Hitch> hitches;
    std::size_t payload_max = 256;  ///< bytes of one frame
    /// Sizes of buckets, small, so that small models have several buckets, and large layers too.
    std::size_t bucket_bytes_min = 64;
    std::size_t bucket_bytes_split = 256;
    /// Every peer keeps a checkpoint after so many rounds.
    std::optional<Round> keeps_after;
    std::vector<Checkpoint> goes_on_from;  ///< [peer]; empty: all begin anew
    /// [peer], what `learners: auto` came to; empty: as many as the settings say.
    std::vector<unsigned> own_learners;
    /// `learners: auto` itself, up to this number, on processors whose speed changes; 0: not.
    unsigned adapts_to = 0;

    unsigned learners_of(PeerIndex peer) const {
        return own_learners.empty() ? settings.training.learners : own_learners[peer];
    }
    unsigned learners_before(PeerIndex peer) const {
        return peer == 0 ? 0 : learners_before(peer - 1) + learners_of(peer - 1);
    }
    std::size_t element_count() const {
        const Range& last = settings.layers.back();
        return last.first + last.count;
    }
    Buckets buckets() const {
        return {settings.layers, element_count(), bucket_bytes_min, bucket_bytes_split};
    }
};

/// Writes the gradient of `peer` in its round (from 0) at these parameters. Where peers have
/// learners, `peer` is learners_before(p) + j for learner j of peer p. Any thread.
using SimGradient = std::function<void(PeerIndex peer, Round round, std::span<const float>,
                                       std::span<float> gradient)>;

/// How one peer ended.
struct ModeEnd {
    SimPeer::State state = SimPeer::State::dead;
    std::string why;
    Time at{0};
    FinishReport report;
    std::vector<float> parameters;
};

struct ModeOutcome {
    std::vector<ModeEnd> ends;            ///< [peer]
    std::vector<std::uint64_t> sent;      ///< [peer]: bytes of payload that arrived
    std::vector<std::uint64_t> received;  ///< [peer]
    std::vector<Checkpoint> checkpoints;  ///< [peer], of who came so far
    /// The most rounds by which a worker that computes at current parameters was ahead of the
    /// slowest that trained: of gradients given away.
    Round widest_gap = 0;
};

class ModeRun final : Work, Observer {
  public:
    /// `initial` outlives this.
    ModeRun(const ModeScenario& scenario, std::span<const float> initial, SimGradient gradient);

    /// Runs until all have ended. Throws Violation if somebody hangs or has frames refused.
    ModeOutcome run();

  private:
    std::unique_ptr<SimPeer> make_peer(PeerIndex peer);
    void set_links();
    void strike(const Hitch& hitch);
    Time layer_time(const SimPeer& peer);
    void measure_gap(PeerIndex peer);
    void keep_checkpoint(SimPeer& peer);

    void begins_round(SimPeer& peer) override;
    float gradient(SimPeer& peer) override;
    Learned learned(SimPeer& peer) override;
    std::size_t learners(const SimPeer& peer) override;
    std::unique_ptr<Learners> make_learners(PeerIndex peer);
    const Clock& clock_of(PeerIndex peer);
    void learn(SimPeer& peer);
    void restore_learners(SimPeer& peer);
    Time forward_time(const SimPeer& peer) override { return layer_time(peer); }
    Time backward_time(const SimPeer& peer) override { return layer_time(peer); }
    bool may_be_refused(const SimPeer& peer) const override {
        return scenario_.peers[peer.settings.self].may_be_refused;
    }
    bool settles(const SimPeer& peer) override {
        return scenario_.keeps_after == peer.exchange.standing().round;
    }

    void gave_gradient(SimPeer& peer) override { ++given_[peer.settings.self]; }
    void ended_round(SimPeer& peer) override;
    void died(SimPeer& peer, bool silently) override;

    const ModeScenario scenario_;
    const std::span<const float> initial_;
    const SimGradient gradient_;
    const SteadyClock clock_;                     // which learners of a fixed number do not look at
    std::vector<std::unique_ptr<Clock>> clocks_;  ///< [peer], of those who adapt
    SimCluster cluster_;
    std::vector<std::unique_ptr<Network>> networks_;   ///< [peer], of its first learner
    std::vector<std::unique_ptr<Learners>> learners_;  ///< [peer]; empty in the other modes
    std::vector<Round> learned_;                       ///< [peer]: the newest round of its learners
    std::vector<Round> given_;                         ///< [peer]: whole gradients
    std::vector<Checkpoint> checkpoints_;
    Round widest_gap_ = 0;
};

}  // namespace ako::sim
