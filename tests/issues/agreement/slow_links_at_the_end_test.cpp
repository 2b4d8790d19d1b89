// A healthy peer behind slow links ended without agreement (exit 4) though nothing was wrong: the
// others left finish_linger_s after they had adopted the cut themselves, while it still pulled; and
// as long as a block trickled in over one link, nothing was asked of the others. Now who has
// adopted serves for as long as a live peer moves, blocks are asked of whoever brings them first,
// and the time-outs of the end count from the newest movement. A peer that hangs is still not
// waited for.
#include <doctest/doctest.h>

#include "tests/fakes/virtual_cluster.h"

namespace ako::slow_links_at_the_end_test {

using sim::ms;
using test::VirtualCluster;

namespace {

constexpr std::size_t blocks = 98;  // rows of 1.6 MB
constexpr double row_mbit = blocks * 16384 * 8 / 1e6;

void check_all_agreed(VirtualCluster& cluster) {
    for (PeerIndex index = 0; index < cluster.peers.size(); ++index) {
        CAPTURE(index);
        const sim::AkoPeer* peer = cluster.peers[index];
        REQUIRE(peer->report);
        CHECK_MESSAGE(peer->report->agreed, peer->report->why_not);
        CHECK(peer->report->identical);
        CHECK(peer->report->finished_with.size() == cluster.peers.size());
        CHECK(peer->report->digest == cluster.peers[0]->report->digest);
    }
}

}  // namespace

TEST_CASE("all links into one peer are slow: the others serve it to the end") {
    VirtualCluster cluster(4, blocks);
    for (const PeerIndex from : {0, 1, 2}) cluster.set_mbit(from, 3, 1);
    REQUIRE(cluster.run(std::chrono::seconds(300)));
    check_all_agreed(cluster);
    // Each link brings a third, and few blocks come twice.
    const double least = row_mbit;
    CHECK(cluster.seconds(3) > 0.8 * least);  // something came before the end
    CHECK(cluster.seconds(3) < 1.2 * least);
    CHECK(cluster.seconds(0) < cluster.seconds(3) + 1);  // nobody stays longer than it is needed
    // It says for how long it pulled, and who did not have to, that it did not.
    CHECK(cluster[3].report->seconds > 0.8 * least);
}

TEST_CASE("one slow link into a peer: the others bring what it would bring late") {
    for (const double mbit : {1.0, 0.3, 0.1}) {
        CAPTURE(mbit);
        VirtualCluster cluster(4, blocks);
        cluster.set_mbit(0, 3, mbit);
        REQUIRE(cluster.run(std::chrono::seconds(300)));
        check_all_agreed(cluster);
        CHECK(cluster[3].report->seconds < 1);
        // Then the last words of the slow link, behind the block that it was sending.
        CHECK(cluster.seconds(3) < 1 + 16384 * 8 / 1e6 / mbit);
    }
}

TEST_CASE("a pull longer than finish_timeout_s is none that hangs") {
    VirtualCluster cluster(3, blocks);
    for (const PeerIndex from : {0, 1}) cluster.set_mbit(from, 2, 0.1);
    REQUIRE(cluster.run(std::chrono::seconds(600)));
    check_all_agreed(cluster);
    CHECK(cluster.seconds(2) > cluster.settings.exchange.finish_timeout_s);
}

TEST_CASE("a majority that needs the slow peer waits for it as long as it moves") {
    VirtualCluster cluster(2, blocks);
    cluster.set_mbit(0, 1, 0.09);  // 143 s
    REQUIRE(cluster.run(std::chrono::seconds(600)));
    check_all_agreed(cluster);
    CHECK(cluster.seconds(0) > cluster.settings.exchange.finish_timeout_s);
}

TEST_CASE("a peer that hangs at the end does not hold the others") {
    VirtualCluster cluster(4, blocks);
    for (const PeerIndex from : {0, 1, 2}) cluster.set_mbit(from, 3, 1);
    cluster.finishing = [&](PeerIndex) {
        if (cluster.world.now() > *cluster.finish_at + ms(3000)) cluster.hang(3);
    };
    REQUIRE(cluster.run(std::chrono::seconds(300)));
    const double linger_s =
        std::chrono::duration<double>(cluster.settings.times().finish_linger).count();
    for (const PeerIndex peer : {0, 1, 2}) {
        CHECK(cluster[peer].report->agreed);
        CHECK(cluster.seconds(peer) < 3 + linger_s + 1);
    }
}

}  // namespace ako::slow_links_at_the_end_test
