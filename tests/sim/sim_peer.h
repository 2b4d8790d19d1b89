// One process of a peer of the simulator: the real exchange with the real halves of its mode, on
// one thread and in virtual time. SimCluster takes it step by step through its rounds and to its
// end.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/exchange/mode_exchange.h"
#include "tests/sim/sim_network.h"
#include "tests/sim/world.h"

namespace ako::sim {

struct SimPeer {
    SimPeer(const ModeSettings& peer_settings, std::size_t parameter_count,
            std::size_t payload_bytes_max, const HalvesMaker& make_halves, World& world,
            SimNetwork& network, Time clock_offset)
        : settings(peer_settings),
          layers(settings.layers.empty() ? std::vector<Range>{{0, parameter_count}}
                                         : settings.layers),
          clock(world, clock_offset),
          transport(network, settings.self, clock, settings.process_id),
          exchange(
              settings, payload_bytes_max,
              [&](const ModeSettings& given, Mailbox& mailbox, Transport& over, const Clock& by) {
                  std::unique_ptr<Halves> made = make_halves(given, mailbox, over, by);
                  halves = made.get();
                  return made;
              },
              transport, clock, interrupts),
          gradient(parameter_count) {}
    virtual ~SimPeer() = default;

    const ModeSettings settings;
    const std::vector<Range> layers;  ///< what its passes go through; where there are none, one
    PeerClock clock;
    SimTransport transport;
    std::atomic<int> interrupts = 0;
    Halves* halves = nullptr;  ///< those of the exchange
    ModeExchange exchange;

    enum class State { training, finishing, ended, left, broken, dead };
    State state = State::training;
    bool begun = false;  ///< its process has
    bool over() const { return state != State::training && state != State::finishing; }

    // The round that it is in.
    std::size_t samples = 0;
    std::shared_ptr<const Checkpoint> restored;  ///< see Next
    std::size_t layer = 0;  ///< the next of the forward pass, the last of the backward pass
    std::vector<float> gradient;
    Learned learned;
    float loss = 0;

    // How it ended.
    std::optional<FinishReport> report;  ///< nothing of one that is broken
    std::vector<float> parameters;       ///< empty for a peer that only serves
    std::string why;                     ///< it is broken
    Time ended_at{0};
};

}  // namespace ako::sim
