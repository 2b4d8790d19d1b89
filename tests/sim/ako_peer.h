// A peer of the simulator in the mode `ako`, whose two halves show what they hold.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/modes/ako_mode.h"
#include "tests/sim/phase.h"
#include "tests/sim/sim_cluster.h"
#include "tests/sim/sim_peer.h"

namespace ako::sim {

struct AkoPeer final : SimPeer {
    AkoPeer(const ModeSettings& peer_settings, std::span<const float> initial,
            std::size_t payload_bytes_max, SimCluster& cluster, Time clock_offset)
        : SimPeer(peer_settings, initial.size(), payload_bytes_max, halves_maker(initial),
                  cluster.world(), cluster.network(), clock_offset),
          blocks(initial.size(), peer_settings.block_elements),
          half(static_cast<AkoMode*>(halves)->compute()),
          traffic(*static_cast<AkoMode*>(halves)->traffic()) {}

    bool joining() const { return half.state() == AkoBeginning::State::joining; }
    /// In which it makes its rounds; 0 while it has not claimed its row.
    Incarnation incarnation() const {
        return half.rows().claimed() ? half.rows().incarnation() : 0;
    }

    const Blocks blocks;
    AkoCompute& half;
    AkoTraffic& traffic;

  private:
    static HalvesMaker halves_maker(std::span<const float> initial) {
        return [initial](const ModeSettings& settings, Mailbox& mailbox, Transport& transport,
                         const Clock& clock) {
            return std::make_unique<AkoMode>(settings,
                                             std::vector<float>(initial.begin(), initial.end()),
                                             mailbox, transport, clock);
        };
    }
};

/// Nothing before it begins, and once it is over.
inline std::optional<Phase> phase_of(const AkoPeer& peer) {
    if (!peer.begun || peer.over()) return std::nullopt;
    if (peer.state == SimPeer::State::finishing) {
        return peer.half.agreement().adopted() ? Phase::lingering : Phase::finishing;
    }
    if (peer.joining()) return Phase::joining;
    return peer.half.started() ? Phase::training : Phase::connecting;
}

/// The newest processes of the peers of a cluster in which all are of the mode `ako`; it outlives
/// this.
class AkoPeers {
  public:
    explicit AkoPeers(const SimCluster& cluster) : cluster_(cluster) {}

    std::size_t size() const { return cluster_.size(); }
    AkoPeer* operator[](PeerIndex peer) const { return static_cast<AkoPeer*>(&cluster_[peer]); }

  private:
    const SimCluster& cluster_;
};

}  // namespace ako::sim
