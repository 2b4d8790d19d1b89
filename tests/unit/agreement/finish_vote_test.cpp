// The vote of one peer in its final exchange: how it finds out that it has lost it, how it asks for
// it, and what it does meanwhile. The rules of the vote alone: agreement_test.cpp; several peers:
// votes_at_the_end_test.cpp.
#include <doctest/doctest.h>

#include "src/agreement/why_not_agreed.h"
#include "src/exchange/incarnation.h"
#include "tests/contains.h"
#include "tests/unit/agreement/finish_bench.h"

namespace ako::finish_vote_test {

using namespace ako::test;

namespace {

/// The ballot under which peer 1 asks for a vote, if it asked `to`.
Ballot asked_for_vote(Bench& bench, PeerIndex to) {
    const std::vector<Prepare> sent = bench.sent<Prepare>(to);
    for (const Prepare& prepare : sent) CHECK(prepare.regains);
    return sent.empty() ? Ballot{} : sent.back().ballot;
}

/// Peer 1 of three, which goes on with an earlier run; and what another one says of it first.
struct GoesOn {
    GoesOn() {
        finish.resume(earlier);
        status.vote.may_have_voted = 0;
        status.heartbeat.process_id = 90;
    }
    Ledger ledger{1, 3, Blocks{8, 4}};
    Roster roster{1, 3};
    Finish finish{ledger, roster, [](PeerIndex, const Header&) {}, times, 77};
    Incarnation earlier = next_incarnation(0, 5).value();
    Status status = status_of_a_peer();
};

}  // namespace

TEST_CASE("a later life asks for its vote during training, of whom it has none yet") {
    Bench bench(ask, false);
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
    bench.now += ask / 2;
    bench.finish.step(bench.now);
    CHECK(bench.messages.empty());
    bench.now += ask;
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

TEST_CASE("who has not come in does not ask: another process of its name may live, and vote") {
    Bench bench(ask, false, 0);
    bench.finish.lose_vote();
    bench.finish.step(bench.now);
    const Time waits = Voter::turned_away_within - ask;
    bench.now += waits;
    bench.finish.step(bench.now);
    CHECK(bench.messages.empty());
    bench.now += ask;  // by now it would have been turned away
    bench.finish.step(bench.now);
    CHECK(!asked_for_vote(bench, 0).none());

    Bench comes_in(ask, false, 0);
    comes_in.finish.lose_vote();
    comes_in.finish.step(comes_in.now);
    CHECK(comes_in.messages.empty());
    comes_in.roster.set_own(1, 1);
    comes_in.finish.step(comes_in.now);
    CHECK(!asked_for_vote(comes_in, 0).none());

    Bench at_the_end(ask, true, 0);
    at_the_end.finish.lose_vote();
    at_the_end.finish.step(at_the_end.now);
    CHECK(!asked_for_vote(at_the_end, 2).none());
}

TEST_CASE("who is outbid asks for its vote under a higher ballot, later each time") {
    Bench bench(ask, false);
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

TEST_CASE("who has no vote lets what was just proposed come to something, but not for ever") {
    const Time step = std::chrono::milliseconds(50);
    Bench bench(ask, false);
    bench.finish.lose_vote();
    bench.finish.step(bench.now);
    const Ballot ballot = asked_for_vote(bench, 0);
    // Its own time is long over when somebody proposes: from then on it waits once more.
    bench.now += seconds(30);
    bench.finish.step(bench.now);
    bench.finish.handle(0, Prepare{{ballot.number + 1, 0}}, bench.now);
    const Time proposed_at = bench.now;
    while (asked_for_vote(bench, 0) == ballot && bench.now < proposed_at + seconds(30)) {
        bench.now += step;
        bench.finish.step(bench.now);
    }
    const Time waited = bench.now - proposed_at;
    CHECK(waited > ask);
    CHECK(waited < 4 * ask);
    // Where one proposal follows the other, it asks all the same.
    const Ballot second = asked_for_vote(bench, 0);
    const Time since = bench.now;
    for (std::uint32_t number = second.number + 1;
         asked_for_vote(bench, 0) == second && bench.now < since + seconds(60); ++number) {
        bench.finish.handle(0, Prepare{{number, 0}}, bench.now);
        bench.now += step;
        bench.finish.step(bench.now);
    }
    CHECK(bench.now - since < seconds(30));
}

TEST_CASE("a proposer that one without a vote outbids waits for that vote, longer each time") {
    for (const bool has_its_vote : {false, true}) {
        Bench bench;
        Status status = status_of_a_peer();
        status.vote.has_vote = has_its_vote;
        bench.roster.heard_status(2, status, bench.now, 1);
        bench.now += times.exchange + times.exchange;
        bench.finish.step(bench.now);
        REQUIRE(!bench.sent<Prepare>(0).empty());
        Time waited{0};
        for (int tries = 0; tries < 3; ++tries) {
            const Ballot mine = bench.sent<Prepare>(0).back().ballot;
            bench.finish.handle(2, Prepare{{mine.number + 1, 2}, true}, bench.now);
            const Time since = bench.now;
            bench.finish.step(bench.now);
            while (bench.sent<Prepare>(0).back().ballot == mine &&
                   bench.now < since + seconds(30)) {
                bench.now += std::chrono::milliseconds(10);
                bench.finish.step(bench.now);
            }
            if (has_its_vote) {
                CHECK(bench.now == since);
            } else {
                CHECK(bench.now - since > waited);
                CHECK(bench.now - since >= bench.roster.answer_time());
            }
            waited = bench.now - since;
        }
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
    Bench bench(ask, false);
    Status status = status_of_a_peer();
    bench.finish.heard(0, status, bench.now);
    CHECK(bench.finish.has_vote());
    SUBCASE("of itself") { status.standing.progress[1] = {4, 4}; }
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
        status.standing.progress[1] = {};
        if (heard_of) status.vote.may_have_voted |= peer_bit(1);
        roster.heard_status(0, status, seconds(1), 0);
        finish.heard(0, status, seconds(1));
        CHECK(finish.has_vote() == !heard_of);
        finish.handle(0, Prepare{{1, 0}}, seconds(1));
        CHECK(sent == 0);  // not before it may vote
        CHECK((finish.voter().may_have_voted() & peer_bit(1)) == (heard_of ? peer_bit(1) : 0));
        finish.begin(seconds(1));
        CHECK((finish.voter().may_have_voted() & peer_bit(1)) != 0);
        CHECK(finish.has_vote() == !heard_of);
        finish.handle(0, Prepare{{1, 0}}, seconds(1));
        CHECK(sent == 1);
        status.vote.may_have_voted |= peer_bit(1);  // it has heard so from this process
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
    status.standing.progress.resize(2);
    status.rows.resize(2);
    status.standing.final_round = 0;
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
        status.vote.may_have_voted = peer_bit(1);
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
            status.standing.final_round = 0;
            status.vote.has_vote = peer != 0 || lowest_has_vote;
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
            bench.ledger.replace(0, block, {1, 5}, values, crc32c(std::span<const float>(values)));
        Status ended = status_of_a_peer();
        ended.standing.final_round = 0;
        ended.rows[0] = bench.ledger.held(0);
        bench.roster.heard_status(2, ended, bench.now, 1);
        Status status = status_of_a_peer();
        status.vote.has_vote = false;
        if (claimed) status.rows[0].highest = status.rows[0].lowest = {2, 5};
        bench.roster.heard_status(0, status, bench.now, 1);
        bench.finish.step(bench.now);
        CHECK(bench.sent<Prepare>(2).empty() == claimed);
    }
}

TEST_CASE("a final round is of the incarnation that its owner says") {
    Roster roster{1, 3};
    Status status = status_of_a_peer();
    status.rows[2].highest = status.rows[2].lowest = {4, 9};
    status.standing.final_round = 9;
    roster.heard_status(2, status, seconds(1), 1);
    CHECK(roster[2].final_version() == Version{4, 9});
}

TEST_CASE("without enough votes no cut is waited for, and it is said whose are lost") {
    Bench bench;
    ModeSettings settings;
    settings.peer_names = {"a", "b", "c"};
    CHECK(agreement_possible(bench.roster, bench.finish));
    Status status = status_of_a_peer();
    status.vote.has_vote = false;
    bench.roster.heard_status(2, status, bench.now, 1);
    CHECK(agreement_possible(bench.roster, bench.finish));
    bench.roster.heard_status(0, status, bench.now, 1);
    CHECK(!agreement_possible(bench.roster, bench.finish));
    CHECK(contains(why_not_agreed(settings, bench.roster, bench.finish), ": a, c"));
    // A peer that knows a decided cut needs no vote.
    bench.status(0, 6, {1, 0}, true);
    bench.finish.step(bench.now);
    CHECK(agreement_possible(bench.roster, bench.finish));
}

TEST_CASE("what others know from their disks costs who goes on with a run no vote, all else does") {
    GoesOn peer;
    Finish& finish = peer.finish;
    Status& status = peer.status;
    const Incarnation earlier = peer.earlier;
    status.start.resuming = true;
    status.rows[1].highest = {earlier, 40};
    status.standing.progress[1] = {40, 40};
    finish.heard(0, status, seconds(1));
    CHECK(finish.has_vote());
    bool keeps = true;
    SUBCASE("before it begins, from one that has begun") { status.start.resuming = false; }
    SUBCASE("before it begins, that its peer may have voted") {
        status.vote.may_have_voted = peer_bit(1);
        keeps = false;
    }
    SUBCASE("once it has begun") {
        peer.roster.set_own(40, 40);
        SUBCASE("from one that has begun beside it") { status.start.resuming = false; }
        SUBCASE("from one that is started again, and has it from its disk") {
            status.heartbeat.process_id = 91;
        }
        SUBCASE("from one that did not go on beside it, but has trained all the time") {
            status.heartbeat.process_id = 91;
            status.start.resuming = false;
            keeps = false;
        }
        SUBCASE("of a life that was on no disk") {
            status.start.resuming = false;
            status.rows[1].highest = {next_incarnation(earlier, 6).value(), 40};
            keeps = false;
        }
        SUBCASE("of more rounds than were on any disk") {
            status.start.resuming = false;
            status.standing.progress[1] = {41, 41};
            keeps = false;
        }
    }
    finish.heard(0, status, seconds(2));
    CHECK(finish.has_vote() == keeps);
}

TEST_CASE("one that goes on if anybody does begins beside this process before it has heard so") {
    GoesOn peer;
    Finish& finish = peer.finish;
    Status& status = peer.status;
    const Incarnation earlier = peer.earlier;
    status.standing.progress.assign(3, {});
    bool keeps = true;
    SUBCASE("it waits") {}
    SUBCASE("it comes into a run that is under way") {
        status.start.joining = true;
        keeps = false;
    }
    finish.heard(0, status, seconds(1));
    CHECK(finish.has_vote());
    // It has taken over what the others have of this peer's row, and begun.
    status.start.joining = false;
    status.rows[1].highest = {earlier, 40};
    status.standing.progress = {{1, 1}, {40, 40}, {}};
    finish.heard(0, status, seconds(2));
    CHECK(finish.has_vote() == keeps);
}

}  // namespace ako::finish_vote_test
