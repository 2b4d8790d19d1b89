// A few peers of the mode `ako` in virtual time, on links with rates of their own: for what happens
// at the end of a run, and when a peer comes in mid-run. The simulator's cluster, with no faults
// but those that a test brings about.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tests/sim/ako_peer.h"
#include "tests/sim/sim_cluster.h"
#include "tests/sim/violation.h"

namespace ako::test {

using sim::ms;

class VirtualCluster final : sim::Work, sim::Observer {
    /// Short steps, and so long a goodbye as ModeExchange allows for.
    static constexpr sim::Pace pace{ms(20), ms(10), ms(2000)};

    const std::size_t element_count_;
    std::vector<bool> hung_;  ///< [peer]
    sim::SimCluster cluster_;

  public:
    /// Rows of `blocks` blocks of the size of production.
    VirtualCluster(std::size_t count, std::size_t blocks)
        : element_count_(blocks * block_elements_default),
          hung_(count, false),
          cluster_(1, count, std::chrono::seconds(2), pace, *this, *this),
          world(cluster_.world()),
          network(cluster_.network()),
          peers(cluster_),
          starts_at(count),
          begins_with(count, 0.5F) {
        network.set_payload_max(block_elements_default * sizeof(float));
        for (std::size_t k = 0; k < count; ++k) {
            settings.peer_names.emplace_back(1, static_cast<char>('a' + k));
        }
        settings.training.batch.local = 1;
        settings.exchange.precision = Precision::float32;
        settings.sample_budget = 3 * count;
        settings.log = [](const std::string&) {};
        for (PeerIndex from = 0; from < count; ++from) {
            for (PeerIndex to = 0; to < count; ++to) set_mbit(from, to, 1000);
        }
    }

    void set_mbit(PeerIndex from, PeerIndex to, double mbit) {
        network.quality(from, to).bytes_per_second = mbit * 1e6 / 8;
    }

    /// Everybody trains three rounds and ends; true if all have ended by then.
    bool run(Time deadline) {
        for (PeerIndex peer = 0; peer < hung_.size(); ++peer) {
            cluster_.add(make_peer(peer, first_process + peer), starts_at[peer]);
        }
        try {
            cluster_.run(deadline);
        } catch (const sim::Violation& found) {
            violation = found.what();
            return false;
        }
        return true;
    }

    sim::AkoPeer& operator[](PeerIndex peer) { return *peers[peer]; }
    /// Seconds from the first peer's last round to this one's goodbye.
    double seconds(PeerIndex peer) const {
        const Time left_at = peers[peer]->ended_at - pace.goodbye;
        return std::chrono::duration<double>(left_at - *finish_at).count();
    }
    /// The peer's compute half does nothing any more; its sessions stand, with heartbeats.
    void hang(PeerIndex peer) { hung_[peer] = true; }

    /// The process dies; `silently`: with its machine, so that no dial is refused.
    void kill(PeerIndex peer, bool silently) { cluster_.kill(peer, silently); }
    /// Another process begins in its name.
    void restart(PeerIndex peer) { cluster_.begin_anew(make_peer(peer, peers.size() + peer + 1)); }

    ModeSettings settings;  ///< of every peer, but for `self`
    sim::World& world;
    sim::SimNetwork& network;
    const sim::AkoPeers peers;
    std::vector<Time> starts_at;     ///< [peer]
    std::vector<float> begins_with;  ///< [peer], every element of its initial parameters
    Time round_time = ms(10);
    std::optional<Time> finish_at;
    std::vector<std::optional<Checkpoint>> goes_on_from;  ///< [peer]; empty: all begin anew
    PeerSet begins_anew = 0;                              ///< of those, where the others go on
    std::uint64_t first_process = 1;                      ///< the id of peer a's
    std::string violation;                                ///< why `run` was not as it should be
    std::function<void(PeerIndex)> trains;                ///< called before each round
    std::function<void(PeerIndex)> finishing;  ///< called before each step of a final exchange

  private:
    std::unique_ptr<sim::AkoPeer> make_peer(PeerIndex peer, std::uint64_t process_id) {
        settings.self = peer;
        settings.process_id = process_id;
        settings.checkpoints.clear();
        settings.resumes = !goes_on_from.empty() && !(begins_anew & peer_bit(peer));
        if (settings.resumes && goes_on_from[peer]) {
            settings.checkpoints = {goes_on_from[peer]->id};
            settings.read_checkpoint = [from = *goes_on_from[peer]](const CheckpointId&) {
                return from;
            };
        }
        const std::vector<float> initial(element_count_, begins_with[peer]);
        return std::make_unique<sim::AkoPeer>(settings, initial, 64 << 20, cluster_,
                                              peer * ms(700));
    }
    float gradient(sim::SimPeer& peer) override {
        peer.gradient.assign(element_count_, 1.0F + static_cast<float>(peer.settings.self));
        return 0.5F;
    }
    Time backward_time(const sim::SimPeer&) override { return round_time; }
    Time idle_time(const sim::SimPeer& peer) override {
        if (peer.state == sim::SimPeer::State::finishing && finishing) {
            finishing(peer.settings.self);
        }
        return hung_[peer.settings.self] ? Time(std::chrono::hours(1)) : Time{0};
    }
    void began(sim::SimPeer& peer, const std::optional<Next>& next) override {
        if (next && next->kind == Next::Kind::finish && !finish_at) finish_at = world.now();
        if (next && next->kind == Next::Kind::train && trains) trains(peer.settings.self);
    }
    bool awaited(const sim::SimPeer& peer) const override { return !hung_[peer.settings.self]; }
};

}  // namespace ako::test
