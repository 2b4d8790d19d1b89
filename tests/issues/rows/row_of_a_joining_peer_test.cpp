// A peer that was started again near the end took in its own row from the others, and of that row
// they asked one another only in the moments in which its session was broken. So it came together
// block by block over seconds, the end lasted that much longer, and had it died once more what it
// had learned would have lain with one of them (simulate, seed 563967).
#include <doctest/doctest.h>

#include <variant>

#include "src/rows/relay.h"

namespace ako::row_of_a_joining_peer_test {

namespace {

/// The first of three has asked one of the others for blocks of the row of the last.
bool asked(Outbox& outbox) {
    const Outbox::Unseen unseen = outbox.take();
    for (const Header& header : unseen.control[1]) {
        if (std::holds_alternative<Want>(header)) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("issue: at the end rows are asked for while their owner takes them in itself") {
    constexpr std::size_t peers = 3;
    const Blocks blocks{40, 4};
    Snapshots own{blocks};
    Ledger ledger{0, peers, blocks};
    ledger.set_own(own[0]);
    Roster roster{0, peers};
    Outbox outbox{peers};
    Relaying relaying{ledger, roster, outbox};
    const Time now = std::chrono::seconds(3);
    Status status;
    status.heartbeat.process_id = 1;
    status.standing.progress.resize(peers);
    status.rows.resize(peers);
    status.rows[2] = {{1, 7}, {1, 7}, 75};
    for (const PeerIndex peer : {1, 2}) roster.set_presence(peer, Presence::up);
    roster.heard_status(2, status, now, 1);
    status.rows[2] = {{1, 5}, {1, 9}, 77};
    roster.heard_status(1, status, now, 1);
    relaying.step(now, true);
    CHECK(!asked(outbox));  // its owner sends it
    SUBCASE("it joins") { status.start.joining = true; }
    SUBCASE("training ended before it had all") {
        status.heartbeat.process_id = 3;
        status.rows[2] = {{2, 3}, {2, 5}, 76};
    }
    SUBCASE("training ended before it had any") {
        status.heartbeat.process_id = 3;
        status.rows[2] = {};
    }
    roster.heard_status(2, status, now, 1);
    relaying.step(now);
    CHECK(!asked(outbox));  // while others train it soon will
    relaying.step(now, true);
    CHECK(asked(outbox));
}

}  // namespace ako::row_of_a_joining_peer_test
