// A few peers of the mode `ako` in virtual time, on links with rates of their own: for what happens
// at the end of a run. Both real halves of every peer, the simulator's network, no faults but those
// that a test brings about.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tests/sim/sim_peer.h"

namespace ako::test {

using sim::ms;

struct VirtualCluster {
    /// Rows of `blocks` blocks of the size of production.
    VirtualCluster(std::size_t count, std::size_t blocks)
        : initial(blocks * block_elements_default, 0.5F),
          network(world, random, count, std::chrono::seconds(2)),
          ended_at(count),
          stopped(count, false) {
        network.set_payload_max(block_elements_default * sizeof(float));
        for (PeerIndex peer = 0; peer < count; ++peer) {
            ModeSettings settings;
            settings.self = peer;
            for (std::size_t k = 0; k < count; ++k) {
                settings.peer_names.emplace_back(1, static_cast<char>('a' + k));
            }
            settings.training.batch_per_peer = 1;
            settings.sample_budget = 3 * count;
            settings.log = [](const std::string&) {};
            all_settings.push_back(settings);
            for (PeerIndex to = 0; to < count; ++to) set_mbit(peer, to, 1000);
        }
    }

    void set_mbit(PeerIndex from, PeerIndex to, double mbit) {
        network.quality(from, to).bytes_per_second = mbit * 1e6 / 8;
    }

    /// Everybody trains three rounds and ends; true if all have ended by then.
    bool run(Time deadline) {
        for (const ModeSettings& settings : all_settings) {
            peers.push_back(std::make_unique<sim::SimPeer>(settings, initial, 64 << 20, world,
                                                           network, Time{settings.self * ms(700)}));
        }
        for (PeerIndex peer = 0; peer < peers.size(); ++peer) {
            peers[peer]->exchange.start();
            poll(peer);
            train(peer);
        }
        const bool in_time = world.run([&] { return over(); }, deadline);
        network.drop_all();
        return in_time && network.refusals().empty();
    }

    sim::SimPeer& operator[](PeerIndex peer) { return *peers[peer]; }
    /// Seconds from the first peer's last round to this one's end.
    double seconds(PeerIndex peer) const {
        return std::chrono::duration<double>(*ended_at[peer] - *finish_at).count();
    }
    /// The peer's compute half does nothing any more; its sessions stand, with heartbeats.
    void hang(PeerIndex peer) { stopped[peer] = true; }

    std::vector<float> initial;
    std::vector<ModeSettings> all_settings;
    sim::World world;
    sim::Random random{1};
    sim::SimNetwork network;
    std::vector<std::unique_ptr<sim::SimPeer>> peers;
    std::vector<std::optional<Time>> ended_at;
    std::optional<Time> finish_at;
    std::function<void(PeerIndex)> finishing;  ///< called before each step of a final exchange

  private:
    void poll(PeerIndex peer) {
        if (ended_at[peer]) return;
        network.poll(peer);
        world.after(ms(20), [this, peer] { poll(peer); });
    }
    void train(PeerIndex peer) {
        sim::SimPeer& p = *peers[peer];
        const std::optional<Next> next = p.exchange.step_begin();
        if (next && next->kind == Next::Kind::finish) return finish(peer);
        if (next && next->kind == Next::Kind::train) {
            const std::vector<float> gradient(initial.size(), 1.0F + static_cast<float>(peer));
            (void)p.exchange.end_round(gradient, {1, 0.5F});
        }
        world.after(ms(10), [this, peer] { train(peer); });
    }
    void finish(PeerIndex peer) {
        if (!finish_at) finish_at = world.now();
        if (finishing) finishing(peer);
        if (stopped[peer]) return;
        sim::SimPeer& p = *peers[peer];
        const bool ended = p.exchange.step_finish();
        if (!ended) return world.after(ms(10), [this, peer] { finish(peer); });
        p.exchange.leave();
        p.anchor.resize(initial.size());
        p.report = p.exchange.report(p.anchor);
        ended_at[peer] = world.now();
        // So long a peer tries to send its last words (GroupExchange::leave).
        world.after(ms(2000), [this, peer] { network.kill(peer, false); });
    }
    bool over() const {
        for (PeerIndex peer = 0; peer < peers.size(); ++peer) {
            if (!ended_at[peer] && !stopped[peer]) return false;
        }
        return true;
    }
    std::vector<bool> stopped;
};

}  // namespace ako::test
