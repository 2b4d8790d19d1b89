// What a peer takes in before it makes a round of its own, and when that is enough.
#include "src/rows/joining.h"

#include <doctest/doctest.h>

#include "src/exchange/incarnation.h"
#include "src/numbers/checksum.h"

namespace ako::joining_test {

namespace {

using std::chrono::seconds;
constexpr Time ms = std::chrono::milliseconds(1);
constexpr PeerIndex self = 0, b = 1, c = 2, d = 3;
constexpr Incarnation x = 7, y = 8;

/// Peer 0 of four joins; rows of four blocks of four floats.
struct Bench {
    Bench() { joining.begin(now); }

    /// It is there, and says that it reaches these, and that it may hold what is asked for.
    void come(PeerIndex peer, PeerSet reached = 0, bool joins = false) {
        roster.set_presence(peer, Presence::up);
        joining.begin_session(peer, false, now);
        Status status;
        status.standing.progress.resize(4);
        status.rows = PerRow<RowHeld>(4);
        for (const RowIndex row : AllRows(4)) status.rows[row].highest = Version{x, 99};
        status.heartbeat.reached = reached;
        status.start.joining = joins;
        roster.heard_status(peer, status, now, 0);
    }
    /// It holds row `row` in these versions and nothing of the others.
    void holds(PeerIndex peer, RowIndex row, const std::vector<VersionRun>& runs) {
        for (const RowIndex each : AllRows(4)) {
            const std::vector<VersionRun> zero{{4, {}}};
            joining.heard(peer, {each, each == row ? runs : zero}, now);
        }
    }
    void holds_nothing(PeerIndex peer) { holds(peer, 0, {{4, {}}}); }
    /// All blocks of the row come, in this version.
    void take(RowIndex row, Version version, BlockIndex first = 0, BlockIndex end = 4) {
        const std::vector<float> values(4, 1.0F);
        for (BlockIndex block = first; block < end; ++block) {
            ledger.replace(row, block, version, values, crc32c(std::span<const float>(values)));
        }
        joining.ledger_changed();
    }
    bool step(Time time = 10 * ms) {
        now += time;
        return joining.step(now);
    }
    template <class Message>
    std::vector<Message> sent(PeerIndex to) {
        std::vector<Message> found;
        for (const auto& [peer, header] : messages) {
            if (peer == to && std::holds_alternative<Message>(header))
                found.push_back(std::get<Message>(header));
        }
        messages.clear();
        return found;
    }

    const Blocks blocks{16, 4};
    Ledger ledger{self, 4, blocks};
    Roster roster{self, 4};
    std::vector<std::pair<PeerIndex, Header>> messages;
    Joining joining{ledger,
                    roster,
                    [this](PeerIndex to, Header header) { messages.emplace_back(to, header); },
                    {seconds(5), seconds(120)}};
    Time now = seconds(100);
};

}  // namespace

TEST_CASE("every peer that can be reached says what it holds before it is over") {
    Bench bench;
    bench.come(b);
    CHECK(!bench.step());
    CHECK(bench.sent<WantVersions>(b).size() == 1);
    CHECK(!bench.joining.informed());
    bench.come(c);
    bench.holds_nothing(c);  // which nobody has asked it: it is not taken
    bench.holds_nothing(b);
    CHECK(!bench.step());
    CHECK(bench.joining.silent() == peer_bit(c));
    CHECK(bench.sent<WantVersions>(c).size() == 1);
    bench.holds_nothing(c);
    CHECK(bench.step());
    CHECK(bench.joining.lacking() == 0);
}

TEST_CASE("who does not answer is asked again") {
    Bench bench;
    bench.come(b);
    bench.step();
    bench.step(499 * ms);
    CHECK(bench.sent<WantVersions>(b).size() == 1);
    bench.step(2 * ms);
    CHECK(bench.sent<WantVersions>(b).size() == 1);
}

TEST_CASE("whom others reach is waited for, for a while") {
    Bench bench;
    bench.come(b, peer_bit(c) | peer_bit(self));
    bench.step();
    bench.holds_nothing(b);
    CHECK(!bench.step());
    SUBCASE("it comes") {
        bench.come(c);
        CHECK(!bench.step());
        bench.holds_nothing(c);
        CHECK(bench.step());
    }
    SUBCASE("it does not come, for it can not be reached from here") {
        CHECK(!bench.step(seconds(4)));
        CHECK(bench.step(seconds(1)));
    }
}

TEST_CASE("the own row is asked of whoever holds it, and as new as anybody does") {
    Bench bench;
    bench.come(b);
    bench.come(c);
    bench.step();
    bench.holds(b, 0, {{2, {x, 5}}, {2, {x, 3}}});
    bench.holds(c, 0, {{4, {x, 4}}});
    CHECK(!bench.step());
    CHECK(bench.joining.lacking() == 4);
    std::vector<Want> wants = bench.sent<Want>(b);
    REQUIRE(!wants.empty());
    CHECK(wants[0].row == RowIndex(0));
    CHECK(!wants[0].exact);
    CHECK(wants[0].runs[0].version == Version{x, 4});  // newer than that is what is wanted
    bench.take(0, {x, 4});
    CHECK(!bench.step());
    CHECK(bench.joining.lacking() == 2);
    bench.take(0, {x, 6}, 0, 2);
    CHECK(bench.step());
}

TEST_CASE("it is over when it holds what was said, whatever others learn meanwhile") {
    Bench bench;
    bench.come(b);
    bench.step();
    bench.holds(b, row_of(b), {{4, {x, 5}}});
    CHECK(!bench.step());
    CHECK(bench.sent<Want>(b).empty());  // its owner streams it
    bench.holds(b, row_of(b), {{4, {x, 500}}});
    bench.take(row_of(b), {x, 5});
    CHECK(bench.step());
}

TEST_CASE("what only a peer that went has said to hold is not waited for") {
    Bench bench;
    bench.come(b);
    bench.come(c);
    bench.step();
    bench.holds(b, row_of(d), {{4, {x, 5}}});
    bench.holds_nothing(c);
    CHECK(!bench.step());
    bench.roster.set_presence(b, Presence::down);
    CHECK(!bench.step());  // it may be back at once
    bench.roster.set_presence(b, Presence::lost);
    CHECK(bench.step());
}

TEST_CASE("another process under a name holds nothing of what the earlier one held") {
    Bench bench;
    bench.come(b);
    bench.come(c);
    bench.step();
    bench.holds(b, row_of(d), {{4, {x, 5}}});
    bench.holds_nothing(c);
    CHECK(!bench.step());
    bench.joining.begin_session(b, true, bench.now);
    CHECK(!bench.step());
    CHECK(bench.joining.lacking() == 0);
    CHECK(bench.joining.silent() == peer_bit(b));
    bench.holds_nothing(b);
    CHECK(bench.step());
}

TEST_CASE("who is alone waits for those who may come back, and not for those who ended") {
    Bench bench;
    bench.come(b);
    bench.step();
    bench.roster.set_presence(b, Presence::lost);
    CHECK(!bench.step(seconds(60)));
    SUBCASE("it has ended") {
        bench.roster.set_presence(b, Presence::gone);
        CHECK(bench.step());
    }
    SUBCASE("nothing moves") { CHECK(bench.step(seconds(61))); }
    SUBCASE("it has left, and had told of one that goes on and was not met yet") {
        Status status;
        status.standing.progress = {{0, 0}, {7, 7}, {0, 0}, {0, 0}};
        status.rows = PerRow<RowHeld>(4);
        status.standing.progress[c] = {8, 8};
        bench.roster.heard_status(b, status, bench.now, 0);
        bench.roster.set_presence(b, Presence::left);
        CHECK(!bench.step());
        CHECK(bench.step(seconds(61)));
    }
}

TEST_CASE("what does not come any nearer is gone on without") {
    Bench bench;
    bench.come(b);
    bench.step();
    bench.holds(b, row_of(d), {{4, {x, 5}}});
    CHECK(!bench.step(seconds(119)));
    bench.take(row_of(d), {x, 5}, 0, 1);
    CHECK(!bench.step(seconds(119)));
    CHECK(!bench.step(seconds(119)));
    CHECK(bench.step(seconds(2)));
    CHECK(bench.joining.lacking() == 3);
}

TEST_CASE("a row whose owner joins as well is asked of others") {
    Bench bench;
    bench.come(b);
    bench.come(c, 0, true);
    bench.step();
    bench.holds(b, row_of(c), {{4, {x, 5}}});
    bench.holds_nothing(c);
    CHECK(!bench.step());
    CHECK(!bench.sent<Want>(b).empty());
}

TEST_CASE("of two rows of its name that were begun at zero one comes after the other") {
    Bench bench;
    bench.come(b);
    bench.come(c);
    bench.step();
    bench.holds(b, 0, {{4, {x, 5}}});
    bench.holds(c, 0, {{4, {y, 3}}});
    CHECK(!bench.step());
    CHECK(bench.joining.highest() == y);
    bench.take(0, {y, 3});
    CHECK(bench.step());
    REQUIRE(bench.joining.another());
    bench.ledger.clear_begun(bench.joining.to_add());
    bench.joining.put_aside(bench.now);
    CHECK(bench.joining.is_aside(y));
    CHECK(!bench.step());
    CHECK(bench.joining.lacking() == 4);  // those of the other row
    bench.take(0, {x, 5});
    CHECK(bench.step());
    CHECK(!bench.joining.another());
}

TEST_CASE("a row of which no block came in time is not taken for one that was put aside") {
    Bench bench;
    bench.come(b);
    bench.step();
    bench.holds(b, 0, {{4, {x, 5}}});
    CHECK(!bench.step());
    CHECK(bench.step(seconds(121)));
    CHECK(!bench.joining.another());
    CHECK(!bench.joining.has_put_aside());
    CHECK(bench.joining.lacking() == 4);  // which is said
}

TEST_CASE("what a row was begun as is in what somebody has claimed since") {
    Bench bench;
    const Incarnation claimed = next_incarnation(x, 9).value();
    bench.come(b);
    bench.come(c);
    bench.step();
    bench.holds(b, 0, {{2, {claimed, 6}}, {2, {x, 5}}});
    bench.holds(c, 0, {{4, {x, 5}}});
    CHECK(!bench.step());
    CHECK(bench.joining.highest() == claimed);
    bench.take(0, {claimed, 6}, 0, 2);
    bench.take(0, {x, 5}, 2, 4);
    CHECK(bench.step());
    CHECK(!bench.joining.another());
}

}  // namespace ako::joining_test
