// One peer of the simulator: the real exchange with the real halves of the mode `ako`, on one
// thread and in virtual time. What waits is taken step by step.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/group/group_exchange.h"
#include "src/modes/ako_mode.h"
#include "tests/sim/sim_network.h"
#include "tests/sim/world.h"

namespace ako::sim {

struct SimPeer {
    SimPeer(const ModeSettings& peer_settings, std::span<const float> initial,
            std::size_t payload_bytes_max, World& world, SimNetwork& network, Time clock_offset)
        : settings(peer_settings),
          blocks(initial.size(), peer_settings.block_elements),
          clock(world, clock_offset),
          transport(network, peer_settings.self, clock, peer_settings.process_id),
          exchange(
              settings, payload_bytes_max,
              [&](const ModeSettings& given, Mailbox& mailbox, Transport& over, const Clock& by) {
                  auto halves = std::make_unique<AkoMode>(
                      given, std::vector<float>(initial.begin(), initial.end()), mailbox, over, by);
                  mode = halves.get();
                  return halves;
              },
              transport, clock, interrupts),
          half(mode->compute()),
          traffic(*mode->traffic()) {}

    const ModeSettings settings;
    const Blocks blocks;
    PeerClock clock;
    SimTransport transport;
    std::atomic<int> interrupts = 0;
    AkoMode* mode = nullptr;
    GroupExchange exchange;
    AkoCompute& half;
    AkoTraffic& traffic;

    enum class State { training, finishing, ended, dead };
    State state = State::training;
    std::optional<FinishReport> report;
    std::vector<float> anchor;
};

}  // namespace ako::sim
