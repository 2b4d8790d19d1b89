// The final exchange of one peer against messages that a test makes up. What several peers do is
// tested on links in virtual time (tests/issues/core/slow_links_at_the_end_test.cpp) and by the
// simulator.
#include "src/agreement/finish.h"

#include <doctest/doctest.h>

#include "src/agreement/why_not_agreed.h"
#include "src/numbers/checksum.h"
#include "src/rows/snapshots.h"
#include "tests/contains.h"

using namespace ako;
using ako::test::contains;

namespace {

using std::chrono::seconds;
constexpr FinishTimes times{seconds(30), seconds(10), std::chrono::milliseconds(500), seconds(120)};

Status status_of_a_peer() {
    Status status;
    status.progress.assign(3, {1, 1});
    status.rows.resize(3);
    status.may_have_voted = 0b101;
    return status;
}

/// Peer 1 of three: it does not propose first.
struct Bench {
    explicit Bench(FinishTimes finish_times = times, bool begins = true)
        : times_(finish_times), own(blocks) {
        ledger.set_own(own[0]);
        roster.set_own(1, 1);
        for (const PeerIndex peer : {0u, 2u}) {
            roster.set_presence(peer, Presence::up);
            roster.heard_status(peer, status_of_a_peer(), now, 1);
            finish.heard(peer, status_of_a_peer(), now);
        }
        if (begins) finish.begin(now);
    }
    template <class Message>
    std::vector<Message> sent(PeerIndex to) {
        std::vector<Message> found;
        for (const auto& [peer, header] : messages) {
            if (peer == to && std::holds_alternative<Message>(header))
                found.push_back(std::get<Message>(header));
        }
        return found;
    }
    void status(PeerIndex from, std::uint32_t cut_blocks, CutId decided = {}, bool digest = false) {
        Status status = status_of_a_peer();
        status.cut_blocks = cut_blocks;
        status.decided = decided;
        if (digest) status.digest = Digest{};
        roster.heard_status(from, status, now, 1);
        finish.heard(from, status, now);
    }
    /// The map of a cut in which row 0 is of this round, and the others nothing.
    void map(CutId cut, Round round) {
        for (const RowIndex row : AllRows(3)) {
            finish.handle(0, CutRow{cut, row, {{2, row == 0 ? version_of(round, 1) : Version{}}}},
                          now);
        }
    }
    void block(BlockIndex block, Round round) {
        const std::vector<float> values(4, 1.0F);
        finish.take(0, block, {1, round}, values, crc32c(std::span<const float>(values)), now);
    }

    const FinishTimes times_;
    const Blocks blocks{8, 4};
    Snapshots own;
    Ledger ledger{1, 3, blocks};
    Roster roster{1, 3};
    std::vector<std::pair<PeerIndex, Header>> messages;
    Finish finish{ledger, roster,
                  [this](PeerIndex to, Header header) { messages.emplace_back(to, header); },
                  times_, 1};
    Time now = seconds(100);
};

}  // namespace

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
    CHECK(bench.finish.cut().map_count() == 0);
    bench.finish.handle(0, Accept{{1, 0}, {1, 0}}, bench.now);
    CHECK(bench.sent<WantCut>(0).size() == 1);
    bench.map({1, 0}, 0);  // which is what is held
    bench.finish.step(bench.now);
    CHECK(bench.finish.accepted() == CutId{1, 0});
    // Cuts that come and go do not push out the accepted one.
    for (std::uint32_t number = 2; number < 100; ++number) {
        bench.finish.handle(2, Accept{{number, 2}, {number, 2}}, bench.now);
        bench.map({number, 2}, 3);
        CHECK(bench.finish.cut().map_count() <= CutPuller::maps_max);
    }
    bench.messages.clear();
    bench.finish.handle(0, WantCut{{1, 0}}, bench.now);
    CHECK(bench.sent<CutRow>(0).size() == 3);
}

TEST_CASE("the time-out counts from the newest movement, here or at another, within the bound") {
    // A block may take 20 s on average, so that the bound is far.
    Bench bench(FinishTimes{seconds(30), seconds(10), seconds(5), seconds(120)});
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
    Bench bench(FinishTimes{seconds(30), seconds(10), seconds(5), seconds(120)});
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

TEST_CASE("the first proposer waits for no last round of a peer that joins") {
    for (const bool joins : {false, true}) {
        CAPTURE(joins);
        const Blocks blocks{8, 4};
        Ledger ledger{0, 3, blocks};
        Roster roster{0, 3};
        std::size_t prepares = 0;
        Finish finish{
            ledger, roster,
            [&](PeerIndex, Header header) { prepares += std::holds_alternative<Prepare>(header); },
            times,
            1};
        for (const PeerIndex peer : {1u, 2u}) {
            roster.set_presence(peer, Presence::up);
            Status status;
            status.progress.resize(3);
            for (const RowIndex row : AllRows(3)) status.rows.push_back(ledger.held(row));
            if (peer == 1) status.final_round = 0;
            if (peer == 2) status.joining = joins;
            roster.heard_status(peer, status, seconds(100), 1);
        }
        finish.begin(seconds(100));
        finish.step(seconds(100));
        CHECK((prepares > 0) == joins);
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
            times,
            1};
        const std::vector<float> values(4, 1.0F);
        for (const BlockIndex block : {0u, 1u})
            ledger.replace(1, block, held, values, crc32c(std::span<const float>(values)));
        roster.set_presence(1, Presence::up);
        Status status;
        status.progress.resize(2);
        status.rows = PerRow<RowHeld>(2);
        status.rows[1] = {{5, 9}, {5, 9}, 1};
        status.final_round = 9;
        roster.heard_status(1, status, seconds(100), 1);
        finish.begin(seconds(100));
        finish.step(seconds(100));
        CHECK(prepares > 0);
    }
}

// ---- the vote

namespace {

/// The ballot under which peer 1 asks for a vote, if it asked `to`.
Ballot asked_for_vote(Bench& bench, PeerIndex to) {
    const std::vector<Prepare> sent = bench.sent<Prepare>(to);
    for (const Prepare& prepare : sent) CHECK(prepare.regains);
    return sent.empty() ? Ballot{} : sent.back().ballot;
}

}  // namespace

TEST_CASE("a later life asks for its vote during training, of whom it has none yet") {
    Bench bench(times, false);
    bench.finish.step(bench.now);
    CHECK(bench.messages.empty());  // a first life has it
    CHECK(bench.finish.has_vote());
    bench.finish.lose_vote();
    CHECK(!bench.finish.has_vote());
    bench.finish.step(bench.now);
    const Ballot ballot = asked_for_vote(bench, 0);
    REQUIRE(!ballot.none());
    CHECK(asked_for_vote(bench, 2) == ballot);
    bench.finish.handle(0, Promise{ballot, {}, {}}, bench.now);
    CHECK(!bench.finish.has_vote());
    bench.messages.clear();
    bench.now += times.ask / 2;
    bench.finish.step(bench.now);
    CHECK(bench.messages.empty());
    bench.now += times.ask;
    bench.finish.step(bench.now);
    CHECK(bench.sent<Prepare>(0).empty());
    CHECK(asked_for_vote(bench, 2) == ballot);
    bench.finish.handle(2, Promise{ballot, {}, {}}, bench.now);
    CHECK(bench.finish.has_vote());
    bench.messages.clear();
    bench.now += seconds(60);
    bench.finish.step(bench.now);
    CHECK(bench.messages.empty());
}

TEST_CASE("who is outbid asks for its vote under a higher ballot, later each time") {
    Bench bench(times, false);
    bench.finish.lose_vote();
    bench.finish.step(bench.now);
    Time waited{0};
    for (int tries = 0; tries < 3; ++tries) {
        const Ballot ballot = asked_for_vote(bench, 0);
        const Ballot above{ballot.number + 3, 2};
        bench.finish.handle(0, Promise{above, {}, {}}, bench.now);
        const Time since = bench.now;
        while (asked_for_vote(bench, 0) == ballot && bench.now < since + seconds(30)) {
            bench.now += std::chrono::milliseconds(50);
            bench.finish.step(bench.now);
        }
        CHECK(asked_for_vote(bench, 0) > above);
        CHECK(bench.now - since > waited);
        waited = bench.now - since;
    }
}

TEST_CASE("a vote comes back only with the cut that may have been accepted") {
    Bench bench;
    bench.finish.lose_vote();
    bench.finish.step(bench.now);
    const Ballot ballot = asked_for_vote(bench, 0);
    const CutId cut{1, 0};
    bench.finish.handle(0, Promise{ballot, cut, cut}, bench.now);
    bench.finish.handle(2, Promise{ballot, {}, {}}, bench.now);
    bench.finish.step(bench.now);
    CHECK(!bench.finish.has_vote());
    CHECK(bench.sent<WantCut>(0).size() == 1);
    bench.map(cut, 3);
    bench.finish.step(bench.now);
    CHECK(!bench.finish.has_vote());
    CHECK(bench.finish.accepted().none());
    CHECK(!bench.sent<Want>(0).empty());
    for (const BlockIndex block : {0u, 1u}) {
        const std::vector<float> values(4, 1.0F);
        bench.ledger.replace(0, block, {1, 3}, values, crc32c(std::span<const float>(values)));
    }
    bench.finish.ledger_changed(bench.now);
    bench.finish.step(bench.now);
    CHECK(bench.finish.has_vote());
    CHECK(bench.finish.accepted() == cut);
    CHECK(bench.finish.frozen());
}

TEST_CASE("who has no vote proposes nothing and adopts what is decided") {
    Bench bench;
    bench.finish.lose_vote();
    bench.now += times.exchange + times.exchange;
    bench.finish.step(bench.now);
    for (const Prepare& prepare : bench.sent<Prepare>(0)) CHECK(prepare.regains);
    bench.status(0, 6, {1, 0}, true);
    bench.finish.step(bench.now);
    bench.map({1, 0}, 0);
    bench.finish.step(bench.now);
    CHECK(bench.finish.ready_to_adopt());
    bench.messages.clear();
    bench.now += seconds(10);
    bench.finish.step(bench.now);
    CHECK(bench.sent<Prepare>(0).empty());  // it needs none any more
}

TEST_CASE("what was meant for an earlier life is not answered before the first Status") {
    for (const bool says_status : {false, true}) {
        const Blocks blocks{8, 4};
        Snapshots own{blocks};
        Ledger ledger{1, 3, blocks};
        ledger.set_own(own[0]);
        Roster roster{1, 3};
        roster.set_presence(0, Presence::up);
        roster.set_own(1, 1);
        std::size_t sent = 0;
        Finish finish{ledger, roster, [&](PeerIndex, const Header&) { ++sent; }, times, 1};
        if (says_status) roster.heard_status(0, status_of_a_peer(), seconds(1), 1);
        finish.handle(0, Prepare{{1, 0}}, seconds(1));
        CHECK(sent == (says_status ? 1 : 0));
    }
}

TEST_CASE("a process finds out that it is a later life by the rounds that others have heard of") {
    Bench bench(times, false);
    Status status = status_of_a_peer();
    bench.finish.heard(0, status, bench.now);
    CHECK(bench.finish.has_vote());
    SUBCASE("of itself") { status.progress[1] = {4, 4}; }
    SUBCASE("of its row") { status.rows[1].highest = {1, 4}; }
    bench.finish.heard(0, status, bench.now);
    CHECK(!bench.finish.has_vote());
    bench.finish.step(bench.now);
    const Ballot ballot = asked_for_vote(bench, 0);
    bench.finish.handle(0, Promise{ballot, {}, {}}, bench.now);
    bench.finish.handle(2, Promise{ballot, {}, {}}, bench.now);
    CHECK(bench.finish.has_vote());
    bench.finish.heard(2, status, bench.now);  // that is known
    CHECK(bench.finish.has_vote());
}

TEST_CASE("a process without a round has a vote at its end, if nobody has heard of its peer") {
    for (const bool heard_of : {false, true}) {
        const Blocks blocks{8, 4};
        Snapshots own{blocks};
        Ledger ledger{1, 3, blocks};
        ledger.set_own(own[0]);
        Roster roster{1, 3};
        roster.set_presence(0, Presence::up);
        std::size_t sent = 0;
        Finish finish{ledger, roster, [&](PeerIndex, const Header&) { ++sent; }, times, 1};
        Status status = status_of_a_peer();
        status.progress[1] = {};
        if (heard_of) status.may_have_voted |= peer_bit(1);
        roster.heard_status(0, status, seconds(1), 0);
        finish.heard(0, status, seconds(1));
        CHECK(finish.has_vote() == !heard_of);
        finish.handle(0, Prepare{{1, 0}}, seconds(1));
        CHECK(sent == 0);  // not before it may vote
        CHECK((finish.may_have_voted() & peer_bit(1)) == (heard_of ? peer_bit(1) : 0));
        finish.begin(seconds(1));
        CHECK((finish.may_have_voted() & peer_bit(1)) != 0);
        CHECK(finish.has_vote() == !heard_of);
        finish.handle(0, Prepare{{1, 0}}, seconds(1));
        CHECK(sent == 1);
        status.may_have_voted |= peer_bit(1);  // it has heard so from this process
        finish.heard(0, status, seconds(1));
        CHECK(finish.has_vote() == !heard_of);
    }
}

TEST_CASE("no vote counts before others have heard of its owner") {
    const Blocks blocks{8, 4};
    Snapshots own{blocks};
    Ledger ledger{0, 2, blocks};
    ledger.set_own(own[0]);
    Roster roster{0, 2};
    roster.set_presence(1, Presence::up);
    roster.set_own(1, 1);
    std::vector<Header> sent;
    Finish finish{ledger, roster, [&](PeerIndex, Header header) { sent.push_back(header); }, times,
                  1};
    Status status;
    status.progress.resize(2);
    status.rows.resize(2);
    status.final_round = 0;
    roster.heard_status(1, status, seconds(1), 1);
    finish.heard(1, status, seconds(1));
    finish.begin(seconds(1));
    finish.step(seconds(1));
    REQUIRE(sent.size() == 1);
    const Ballot ballot = std::get<Prepare>(sent[0]).ballot;
    finish.handle(1, Promise{ballot, {}, {}}, seconds(1));
    finish.step(seconds(1));
    CHECK(sent.size() == 1);
    SUBCASE("but one that was regained") {
        finish.handle(1, Promise{ballot, {}, {}, true, {{}, {1, 1, 9}}}, seconds(1));
    }
    SUBCASE("then it does") {
        status.may_have_voted = peer_bit(1);
        finish.heard(1, status, seconds(1));
        finish.handle(1, Promise{ballot, {}, {}}, seconds(1));
    }
    finish.step(seconds(1));
    REQUIRE(sent.size() == 2);
    REQUIRE(std::holds_alternative<Accept>(sent[1]));
    finish.handle(1, Accepted{ballot, ballot}, seconds(1));
    CHECK(finish.decided() == ballot);
}

TEST_CASE("a vote that is asked for does not outbid what is being pulled, unless nothing moves") {
    Bench bench;
    bench.finish.handle(0, Accept{{1, 0}, {1, 0}}, bench.now);
    bench.messages.clear();
    bench.now += seconds(1);
    bench.finish.handle(2, Prepare{{2, 2}, true}, bench.now);
    CHECK(bench.sent<Promise>(2).empty());
    bench.finish.handle(2, Prepare{{2, 2}}, bench.now);  // who proposes has waited for that
    CHECK(bench.sent<Promise>(2).size() == 1);
    bench.finish.handle(0, Accept{{3, 0}, {3, 0}}, bench.now);
    bench.now += seconds(60);
    bench.finish.handle(2, Prepare{{4, 2}, true}, bench.now);
    CHECK(bench.sent<Promise>(2).size() == 2);
}

TEST_CASE("the lowest live peer that has a vote proposes first") {
    for (const bool lowest_has_vote : {false, true}) {
        Bench bench;
        for (const PeerIndex peer : {0u, 2u}) {
            Status status = status_of_a_peer();
            status.final_round = 0;
            status.has_vote = peer != 0 || lowest_has_vote;
            bench.roster.heard_status(peer, status, bench.now, 1);
        }
        bench.finish.step(bench.now);
        CHECK(bench.sent<Prepare>(2).empty() == lowest_has_vote);
    }
}

TEST_CASE("nobody waits for the final round of one that takes in the row of its earlier life") {
    const std::vector<float> values(4, 1.0F);
    for (const bool claimed : {false, true}) {
        Bench bench;
        for (const BlockIndex block : {0u, 1u})
            bench.ledger.replace(2, block, {1, 5}, values, crc32c(std::span<const float>(values)));
        Status status = status_of_a_peer();
        status.has_vote = false;
        status.rows[0] = bench.ledger.held(0);
        if (claimed) status.rows[2].highest = status.rows[2].lowest = {2, 5};
        bench.roster.heard_status(2, status, bench.now, 1);
        bench.roster.set_presence(0, Presence::lost);
        bench.finish.step(bench.now);
        CHECK(bench.sent<Prepare>(2).empty() == claimed);
    }
}

TEST_CASE("a final round is of the incarnation that its owner says") {
    Roster roster{1, 3};
    Status status = status_of_a_peer();
    status.rows[2].highest = status.rows[2].lowest = {4, 9};
    status.final_round = 9;
    roster.heard_status(2, status, seconds(1), 1);
    CHECK(roster[2].final_version() == Version{4, 9});
}

TEST_CASE("without enough votes no cut is waited for, and it is said whose are lost") {
    Bench bench;
    ModeSettings settings;
    settings.peer_names = {"a", "b", "c"};
    CHECK(agreement_possible(bench.roster, bench.finish));
    Status status = status_of_a_peer();
    status.has_vote = false;
    bench.roster.heard_status(2, status, bench.now, 1);
    CHECK(agreement_possible(bench.roster, bench.finish));
    bench.roster.heard_status(0, status, bench.now, 1);
    CHECK(!agreement_possible(bench.roster, bench.finish));
    CHECK(contains(why_not_agreed(settings, bench.roster, bench.finish), ": a, c"));
    // Who holds a decided cut needs no vote.
    bench.status(0, 6, {1, 0}, true);
    bench.finish.step(bench.now);
    CHECK(agreement_possible(bench.roster, bench.finish));
}
