// The final exchange of one peer against messages that a test makes up. What several peers do is
// tested on links in virtual time (tests/issues/agreement/slow_links_at_the_end_test.cpp) and by
// the simulator.
#include "src/agreement/finish.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/unit/agreement/finish_bench.h"

namespace ako::finish_test {

using namespace ako::test;

TEST_CASE("an Accept below what was promised is answered with the newer ballot") {
    Bench bench;
    bench.finish.handle(2, Prepare{{5, 2}}, bench.now);
    bench.finish.handle(0, Accept{{4, 0}, {4, 0}}, bench.now);
    CHECK(bench.sent<Promise>(0) == std::vector<Promise>{{{5, 2}, {}, {}}});
}

TEST_CASE("an implausible ballot before any other is not answered") {
    Bench bench;
    bench.finish.handle(2, Prepare{{1u << 30, 2}}, bench.now);
    bench.finish.handle(2, Accept{{1u << 30, 2}, {1, 2}}, bench.now);
    CHECK(bench.messages.empty());
    bench.finish.handle(2, Prepare{{1, 2}}, bench.now);
    CHECK(bench.sent<Promise>(2).size() == 1);
}

TEST_CASE("maps are taken of the cut that was asked for, and kept while they are needed") {
    Bench bench;
    for (std::uint32_t number = 1; number < 100; ++number) bench.map({number, 0}, 3);
    for (std::uint32_t number = 1; number < 100; ++number)
        bench.finish.handle(0, WantCut{{number, 0}}, bench.now);
    CHECK(bench.sent<CutRow>(0).empty());
    bench.finish.handle(0, Accept{{1, 0}, {1, 0}}, bench.now);
    CHECK(bench.sent<WantCut>(0).size() == 1);
    bench.map({1, 0}, 0);  // which is what is held
    bench.finish.step(bench.now);
    CHECK(bench.finish.accepted() == CutId{1, 0});
    // Cuts that come and go do not push out the accepted one.
    for (std::uint32_t number = 2; number < 100; ++number) {
        bench.finish.handle(2, Accept{{number, 2}, {number, 2}}, bench.now);
        bench.map({number, 2}, 3);
    }
    // It sends the rows of all maps that it keeps.
    std::set<std::uint32_t> kept;
    for (std::uint32_t number = 2; number < 100; ++number)
        bench.finish.handle(0, WantCut{{number, 2}}, bench.now);
    for (const CutRow& row : bench.sent<CutRow>(0)) kept.insert(row.cut.number);
    CHECK(kept.size() <= CutPuller::maps_max);
    bench.messages.clear();
    bench.finish.handle(0, WantCut{{1, 0}}, bench.now);
    CHECK(bench.sent<CutRow>(0).size() == 3);
}

TEST_CASE("the time-out counts from the newest movement, here or at another, within the bound") {
    // A block may take 20 s on average, so that the bound is far.
    Bench bench(seconds(5));
    const Time began = bench.now;
    bench.now += seconds(80);
    CHECK(!bench.finish.timed_out(bench.now));
    bench.status(2, 1);  // it holds a block more of some cut
    bench.now += seconds(50);
    bench.status(2, 1);  // it only lives
    bench.now += seconds(69);
    CHECK(!bench.finish.timed_out(bench.now));
    bench.now += seconds(2);
    CHECK(bench.finish.timed_out(bench.now));
    // Two blocks of each of three rows; a trickle does not go on for ever.
    CHECK(bench.finish.bound() == times.timeout + 6 * seconds(20));
    std::uint32_t blocks = 2;
    for (bench.now = began; bench.now <= began + bench.finish.bound(); bench.now += seconds(1)) {
        bench.status(2, blocks++);
        CHECK(!bench.finish.timed_out(bench.now));
    }
    bench.status(2, blocks);
    CHECK(bench.finish.timed_out(bench.now));
}

TEST_CASE("a row of a map that comes again moves nothing on") {
    Bench bench(seconds(5));
    bench.finish.handle(0, Accept{{1, 0}, {1, 0}}, bench.now);
    const CutRow row{{1, 0}, 0, {{2, version_of(3, 1)}}};
    bench.now += seconds(80);
    bench.finish.handle(0, row, bench.now);
    bench.now += seconds(110);
    bench.finish.handle(0, row, bench.now);
    CHECK(!bench.finish.timed_out(bench.now));
    bench.now += seconds(11);
    CHECK(bench.finish.timed_out(bench.now));
}

TEST_CASE("who has adopted serves as long as a live peer moves, and the linger time after") {
    Bench bench;
    bench.status(0, 6, {1, 0}, true);
    bench.finish.step(bench.now);
    bench.map({1, 0}, 0);
    bench.finish.step(bench.now);
    REQUIRE(bench.finish.ready_to_adopt());
    bench.ledger.detach_own();
    bench.finish.adopt_cut(bench.ledger, bench.now);
    bench.finish.set_digest({});
    CHECK(!bench.finish.done(bench.now, false));
    for (std::uint32_t blocks = 1; blocks < 5; ++blocks) {
        bench.now += seconds(9);
        bench.status(2, blocks, {1, 0});
    }
    bench.now += seconds(9);
    bench.status(2, 4, {1, 0});  // it only lives
    CHECK(!bench.finish.done(bench.now, false));
    bench.now += seconds(2);
    CHECK(bench.finish.done(bench.now, false));
    bench.status(2, 6, {1, 0}, true);
    CHECK(bench.finish.done(bench.now, false));
}

TEST_CASE("who has adopted waits for the lost as long as it lingers, and not for who has ended") {
    Bench bench;
    bench.status(0, 6, {1, 0}, true);
    bench.finish.step(bench.now);
    bench.map({1, 0}, 0);
    bench.finish.step(bench.now);
    bench.ledger.detach_own();
    bench.finish.adopt_cut(bench.ledger, bench.now);
    bench.finish.set_digest({});
    bench.roster.set_presence(2, Presence::lost);
    CHECK(!bench.finish.done(bench.now, false));
    CHECK(bench.finish.done(bench.now, true));
    bench.roster.set_presence(2, Presence::gone);
    CHECK(bench.finish.done(bench.now, false));
}

TEST_CASE("who came late waits for one it never met and whose row it holds") {
    const Version made{1, 3};
    const std::vector<float> values(4, 1.0F);
    for (const bool trained : {false, true}) {
        Bench bench;
        bench.roster.set_presence(2, Presence::absent);
        bench.status(0, 6, {1, 0}, true);
        bench.finish.step(bench.now);
        for (BlockIndex block = 0; trained && block < 2; ++block) {
            bench.ledger.replace(2, block, made, values, crc32c(std::span<const float>(values)));
        }
        for (const RowIndex row : AllRows(3)) {
            const bool is_made = trained && row == 2;
            bench.finish.handle(0, CutRow{{1, 0}, row, {{2, is_made ? made : Version{}}}},
                                bench.now);
        }
        bench.finish.step(bench.now);
        REQUIRE(bench.finish.ready_to_adopt());
        bench.ledger.detach_own();
        bench.finish.adopt_cut(bench.ledger, bench.now);
        bench.finish.set_digest({});
        CHECK(bench.finish.done(bench.now, false) == !trained);
        CHECK(bench.finish.done(bench.now + times.linger + seconds(1), false));
    }
}

TEST_CASE("the first proposer waits for no last round of a peer that joins and knows of the stop") {
    for (const auto& [joins, knows] : {std::pair{false, true}, {true, false}, {true, true}}) {
        CAPTURE(joins);
        CAPTURE(knows);
        const Blocks blocks{8, 4};
        Ledger ledger{0, 3, blocks};
        Roster roster{0, 3};
        std::size_t prepares = 0;
        Finish finish{
            ledger, roster,
            [&](PeerIndex, Header header) { prepares += std::holds_alternative<Prepare>(header); },
            times, 1};
        for (const PeerIndex peer : {1u, 2u}) {
            roster.set_presence(peer, Presence::up);
            Status status;
            status.standing.progress.resize(3);
            for (const RowIndex row : AllRows(3)) status.rows.push_back(ledger.held(row));
            if (peer == 1) status.standing.final_round = 0;
            if (peer == 2) status.start.joining = joins;
            if (knows) status.standing.stop = StopReason::budget_spent;
            roster.heard_status(peer, status, seconds(100), 1);
        }
        finish.begin(seconds(100));
        finish.step(seconds(100));
        CHECK((prepares > 0) == (joins && knows));
    }
}

TEST_CASE("the first proposer does not wait for a row in whose place another process's stands") {
    const Incarnation later = Incarnation{1} << 48 | 5;
    for (const Version held : {Version{later, 3}, Version{6, 3}}) {
        const Blocks blocks{8, 4};
        Ledger ledger{0, 2, blocks};
        Roster roster{0, 2};
        std::size_t prepares = 0;
        Finish finish{
            ledger, roster,
            [&](PeerIndex, Header header) { prepares += std::holds_alternative<Prepare>(header); },
            times, 1};
        const std::vector<float> values(4, 1.0F);
        for (const BlockIndex block : {0u, 1u})
            ledger.replace(1, block, held, values, crc32c(std::span<const float>(values)));
        roster.set_presence(1, Presence::up);
        Status status;
        status.standing.progress.resize(2);
        status.rows = PerRow<RowHeld>(2);
        status.rows[1] = {{5, 9}, {5, 9}, 1};
        status.standing.final_round = 9;
        roster.heard_status(1, status, seconds(100), 1);
        finish.begin(seconds(100));
        finish.step(seconds(100));
        CHECK(prepares > 0);
    }
}

}  // namespace ako::finish_test
