// The peers of a cluster in virtual time without faults, whose parameters begin at zero.
#pragma once

#include <memory>
#include <vector>

#include "src/modes/make_exchange.h"
#include "tests/sim/sim_cluster.h"

namespace ako::test {

/// Adds all that the settings name, with so many elements each, and links of so many bytes a second
/// between them.
inline void add_faultless_peers(sim::SimCluster& cluster, ModeSettings settings,
                                std::size_t elements, double bytes_per_second) {
    const std::size_t peer_count = settings.peer_count();
    for (PeerIndex self = 0; self < peer_count; ++self) {
        for (PeerIndex to = 0; to < peer_count; ++to)
            cluster.network().quality(self, to).bytes_per_second = bytes_per_second;
        settings.self = self;
        const auto make = [elements](const ModeSettings& given, Mailbox& mailbox, Transport& over,
                                     const Clock& by) {
            return make_halves(given, std::vector<float>(elements), mailbox, over, by);
        };
        cluster.add(std::make_unique<sim::SimPeer>(settings, elements, 64 << 20, make,
                                                   cluster.world(), cluster.network(), Time{0}),
                    Time{0});
    }
}

}  // namespace ako::test
