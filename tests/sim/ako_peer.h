// A peer of the simulator in the mode `ako`, whose two halves show what they hold.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/modes/ako_mode.h"
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

/// The peers of a cluster in which all are of the mode `ako`; it outlives this.
class AkoPeers {
  public:
    explicit AkoPeers(const SimCluster& cluster) : cluster_(cluster) {}

    std::size_t size() const { return cluster_.size(); }
    AkoPeer* operator[](PeerIndex peer) const { return static_cast<AkoPeer*>(&cluster_[peer]); }

  private:
    const SimCluster& cluster_;
};

}  // namespace ako::sim
