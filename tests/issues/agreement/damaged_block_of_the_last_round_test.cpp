// A block of somebody's last round that was damaged on the way was dropped, and nobody sent it
// again: its owner counted it as sent, and nothing was asked of an owner that can be reached. All
// waited for finish_exchange_s, and then agreed on an older version of it. Now a damaged block ends
// its session, and a new one begins with nothing sent.
#include <doctest/doctest.h>

#include "tests/fakes/virtual_cluster.h"

namespace ako::damaged_block_of_the_last_round_test {

using sim::ms;
using test::VirtualCluster;

TEST_CASE("a block of the last round that came damaged comes again") {
    VirtualCluster cluster(3, 8);
    // From peer 1 to the first proposer, until peer 1 has streamed its last round.
    cluster.network.quality(1, 0).flipped_bit = 1;
    bool ends = false;
    cluster.finishing = [&](PeerIndex peer) {
        if (peer != 1 || std::exchange(ends, true)) return;
        cluster.world.after(ms(100), [&] { cluster.network.quality(1, 0).flipped_bit = 0; });
    };
    REQUIRE(cluster.run(std::chrono::seconds(100)));
    CHECK(cluster[0].half.arrivals().blocks_refused() > 0);
    for (PeerIndex index = 0; index < cluster.peers.size(); ++index) {
        const sim::AkoPeer* peer = cluster.peers[index];
        REQUIRE(peer->report);
        CHECK_MESSAGE(peer->report->agreed, peer->report->why_not);
        CHECK(peer->report->identical);
        CHECK(cluster.seconds(index) < 5);  // and not finish_exchange_s, 30 s
        CHECK(peer->half.rows().ledger().held(1).lowest.round == cluster[1].report->rounds);
    }
}

}  // namespace ako::damaged_block_of_the_last_round_test
