// One peer of the simulator: the two real halves of the mode `ako`, on one thread and in virtual
// time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/buffer_pool.h"
#include "src/inbox.h"
#include "src/modes/ako_links.h"
#include "src/modes/ako_peer.h"
#include "src/outbox.h"
#include "src/snapshots.h"
#include "tests/sim/sim_network.h"
#include "tests/sim/world.h"

namespace ako::sim {

struct SimPeer {
    SimPeer(const ModeSettings& peer_settings, std::span<const float> initial,
            std::size_t pool_bytes, World& world, SimNetwork& network, Time clock_offset)
        : settings(peer_settings),
          blocks(initial.size(), peer_settings.block_elements),
          clock(world, clock_offset),
          transport(network, peer_settings.self),
          pool(pool_bytes),
          inbox(peer_settings.peer_count()),
          outbox(peer_settings.peer_count()),
          snapshots(blocks),
          half(settings, initial, inbox, outbox, snapshots),
          links(settings, blocks, inbox, outbox, snapshots, pool, transport, clock) {}

    const ModeSettings settings;
    const Blocks blocks;
    PeerClock clock;
    SimTransport transport;
    BufferPool pool;  // outlives what lies in the inbox
    Inbox inbox;
    Outbox outbox;
    Snapshots snapshots;
    AkoPeer half;
    AkoLinks links;

    enum class State { training, finishing, ended, dead };
    State state = State::training;
    std::optional<FinishReport> report;
    std::vector<float> anchor;
};

}  // namespace ako::sim
