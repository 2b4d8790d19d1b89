// The compute half of the mode `ako` on its way into a run that is under way: late for the first
// time, restarted, or because another process has taken its row over.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/contains.h"
#include "tests/unit/modes/ako_joining_bench.h"

namespace ako::ako_joining_test {

using namespace ako::joining_bench;
using namespace ako::test;

namespace {

using Bench = JoiningBench;

const Incarnation former = first_incarnation(former_id), of_b = first_incarnation(b_id);

/// It has adopted round 40 of its row, whose elements were 7.
void rejoin(Bench& bench) {
    bench.come(bench.said({former, 40}, {of_b, 50}, {41, 41}));
    CHECK(!bench.begin());
    REQUIRE(bench.sent<WantVersions>().size() == 1);
    bench.say_versions({former, 40}, {of_b, 50});
    CHECK(!bench.begin());
    bench.bring(row_of(self), {former, 40}, 7);
    bench.bring(row_of(b), {of_b, 50}, 3);
    REQUIRE(bench.trains());
}

}  // namespace

TEST_CASE("who meets all others before anybody has made a round begins at zero") {
    Bench bench;
    bench.come(bench.said({}, {}));
    CHECK(!bench.begin());
    CHECK(bench.peer->state() == AkoBeginning::State::waiting);
    SUBCASE("when all are there and have said so") {
        bench.mailbox.set_presence(c, Presence::up);
        CHECK(!bench.begin());
        bench.say(c, bench.said({}, {}), true);
        CHECK(bench.trains());
    }
    SUBCASE("when one of them begins") {
        bench.say(b, bench.said({}, {of_b, 1}));
        CHECK(bench.trains());
    }
    SUBCASE("when one is met late, and knows of the rounds of one that was met before") {
        const Status status = bench.said({}, {of_b, 1});
        bench.mailbox.set_presence(c, Presence::up);
        bench.say(c, status, true);
        CHECK(bench.trains());
    }
    CHECK(bench.peer->agreement().has_vote());
    bench.round();
    CHECK(bench.own_version() == Version{first_incarnation(own_id), 1});
    CHECK(bench.lines.empty());
}

TEST_CASE("who hears of its row only while it waits does not begin it anew either") {
    Bench bench;
    bench.come(bench.said({}, {}));
    CHECK(!bench.begin());
    // What b had been sent before it had not taken in yet.
    bench.say(b, bench.said({former, 40}, {of_b, 1}, {40, 40}));
    CHECK(!bench.begin());
    CHECK(bench.peer->state() == AkoBeginning::State::joining);
    bench.say_versions({former, 40}, {of_b, 1});
    bench.bring(row_of(self), {former, 40}, 7);
    bench.bring(row_of(b), {of_b, 1}, 3);
    REQUIRE(bench.trains());
    CHECK(bench.own_version() == Version{next_incarnation(former, own_id).value(), 40});
    CHECK(bench.peer->rows().ledger().values(row_of(self))[0] == 7);
}

TEST_CASE("a restarted peer goes on with its row, its round and its samples") {
    Bench bench;
    bench.come(bench.said({former, 40}, {of_b, 50}, {41, 41}));
    CHECK(!bench.begin());
    CHECK(bench.peer->state() == AkoBeginning::State::joining);
    CHECK(bench.says_it_joins());
    REQUIRE(bench.sent<WantVersions>().size() == 1);
    bench.say_versions({former, 40}, {of_b, 50});
    CHECK(!bench.begin());
    // The own row is asked for; b streams its own.
    std::vector<Want> wants = bench.sent<Want>();
    REQUIRE(wants.size() == 1);
    CHECK(wants[0].row == row_of(self));
    REQUIRE(bench.lines.size() == 1);
    CHECK(contains(bench.lines[0], "joins a run that is at 9 %"));  // 41 and 50 of 1000
    CHECK(contains(bench.lines[0], "to come from b"));
    bench.bring(row_of(self), {former, 40}, 7);
    CHECK(!bench.begin());  // not before it has b's row as well
    bench.bring(row_of(b), {of_b, 50}, 3);
    REQUIRE(bench.trains());
    CHECK(!bench.says_it_joins());
    CHECK(!bench.peer->agreement().has_vote());  // the process before may have used it
    REQUIRE(bench.lines.size() == 2);
    CHECK(contains(bench.lines[1], "has joined after 0.0 s, goes on after round 41"));

    const Incarnation own = next_incarnation(former, own_id).value();
    CHECK(bench.own_version() == Version{own, 41});
    CHECK(bench.peer->rows().ledger().values(row_of(self))[0] == 7);
    CHECK(bench.peer->replica()[0] == doctest::Approx(0.5 + (7.0 + 3.0) / 3));
    CHECK(bench.peer->standing().round == 41);
    CHECK(bench.peer->standing().samples == 41);
    const auto snapshot = bench.outbox.take().snapshot;
    REQUIRE(snapshot);  // what it has claimed is news for the others
    CHECK(bench.snapshots[*snapshot].version == Version{own, 41});
    bench.round();
    CHECK(bench.own_version() == Version{own, 42});
    // One of three is absent, so that an update of 1 is scaled by 3/2.
    CHECK(bench.peer->meetings().scale() == 1.5);
    CHECK(bench.peer->rows().ledger().values(row_of(self))[0] == 8.5F);
    CHECK(bench.peer->standing().samples == 42);
}

TEST_CASE("of what was taken up with the row nothing gives way to one that trained apart") {
    Bench bench;
    rejoin(bench);
    bench.round();
    CHECK(bench.peer->rows().ledger().values(row_of(self))[0] == 8.5F);
    Status status = bench.said(bench.own_version(), {of_b, 50});
    status.standing.progress[c] = {500, 500};
    bench.mailbox.set_presence(c, Presence::up);
    bench.say(c, status, true);
    REQUIRE(bench.trains());
    bench.round();
    // All three are there, and of the one round that was made here meanwhile 500 / 501 give way.
    CHECK(bench.peer->meetings().scale() == 1);
    CHECK(bench.peer->rows().ledger().values(row_of(self))[0] ==
          doctest::Approx(7 + 1.5 / 501 + 1 + 0.5).epsilon(1e-5));
}

TEST_CASE("who comes late for the first time holds all rows before its first gradient") {
    Bench bench;
    bench.come(bench.said({}, {of_b, 50}));
    CHECK(!bench.begin());
    bench.say_versions({}, {of_b, 50}, {first_incarnation(9), 20});  // c is lost
    for (int k = 0; k < 10; ++k) CHECK(!bench.begin());
    bench.bring(row_of(b), {of_b, 50}, 3);
    CHECK(!bench.begin());
    bench.bring(row_of(c), {first_incarnation(9), 21}, 6);
    CHECK(bench.trains());
    CHECK(bench.peer->replica()[0] == doctest::Approx(0.5 + (3.0 + 6.0) / 3));
    CHECK(bench.peer->standing().round == 0);
    CHECK(bench.peer->agreement().has_vote());  // there was no process before
    bench.round();
    CHECK(bench.own_version() == Version{first_incarnation(own_id), 1});
}

TEST_CASE("it goes on without what does not come, and says so") {
    Bench bench;
    bench.come(bench.said({former, 40}, {of_b, 50}, {40, 40}));
    bench.begin();
    bench.say_versions({former, 40}, {of_b, 50}, {first_incarnation(9), 20});
    bench.bring(row_of(self), {former, 40}, 7);
    bench.bring(row_of(b), {of_b, 50}, 3);
    CHECK(!bench.begin());
    CHECK(!bench.begin(std::chrono::seconds(29)));
    const auto next = bench.begin(std::chrono::seconds(2));
    REQUIRE(next);
    CHECK(next->kind == Next::Kind::train);
    CHECK(contains(bench.lines.back(), "without 3 blocks"));
}

TEST_CASE("a cut that the others have decided on is adopted, whatever the own row was") {
    Bench bench;
    Status status = bench.said({former, 40}, {of_b, 50}, {40, 40});
    status.standing.stop = StopReason::budget_spent;
    status.vote.decided = {1, b};
    bench.come(status);
    const auto next = bench.begin();
    REQUIRE(next);
    CHECK(next->kind == Next::Kind::finish);
    bench.peer->step_finish(bench.now);
    CHECK(bench.sent<WantCut>() == std::vector<WantCut>{{{1, b}}});
    CHECK(!bench.mailbox.take_posted().status->standing.final_round);  // it has written nothing
    bench.say(b, CutRow{{1, b}, row_of(self), {{3, {former, 40}}}});
    bench.say(b, CutRow{{1, b}, row_of(b), {{3, {of_b, 50}}}});
    bench.say(b, CutRow{{1, b}, row_of(c), {{3, {}}}});
    bench.peer->step_finish(bench.now += 10 * ms);
    bench.bring(row_of(self), {former, 40}, 7);
    bench.bring(row_of(b), {of_b, 50}, 3);
    bench.peer->step_finish(bench.now += 10 * ms);
    CHECK(bench.peer->agreement().adopted());
    std::vector<float> parameters(element_count);
    bench.peer->copy_parameters(parameters);
    CHECK(parameters[0] == doctest::Approx(0.5 + (7.0 + 3.0) / 3));
}

TEST_CASE("before it knows whether there was a process before, nobody gets its vote") {
    Bench bench;
    bench.come(bench.said({former, 40}, {of_b, 50}, {40, 40}));
    bench.say(b, Prepare{{1, b}});
    CHECK(!bench.begin());
    CHECK(bench.sent<Promise>().empty());
}

TEST_CASE(
    "a stop that it hears of before those who have trained have spoken is not of no training") {
    Bench bench;
    bench.mailbox.set_presence(c, Presence::up);
    Status status = bench.said({}, {});  // b is new as well
    status.standing.progress[c] = {70, 70};
    status.rows[row_of(c)].highest = {9, 70};
    status.standing.stop = StopReason::requested;
    bench.come(status);
    const auto next = bench.begin();
    REQUIRE(next);
    CHECK(next->kind == Next::Kind::finish);
}

TEST_CASE("where the others stop it takes part in the end, and leaves its row to the cut") {
    for (const bool restarted : {true, false}) {
        CAPTURE(restarted);
        Bench bench;
        Status status = bench.said({}, {of_b, 50});
        if (restarted) status = bench.said({former, 40}, {of_b, 50}, {40, 40});
        bench.come(status);
        CHECK(!bench.begin());
        status.standing.stop = StopReason::budget_spent;
        bench.say(b, status);
        const auto next = bench.begin();
        REQUIRE(next);
        CHECK(next->kind == Next::Kind::finish);
        bench.peer->step_finish(bench.now);
        // A row that nobody has made is its own, with all that belongs to it.
        CHECK(bench.peer->rows().claimed() == !restarted);
        CHECK(bench.peer->agreement().has_vote() == !restarted);
        const auto posted = bench.mailbox.take_posted();
        CHECK(posted.status->standing.final_round ==
              (restarted ? std::nullopt : std::optional<Round>(0)));
    }
}

TEST_CASE("taken over by another process, it goes on with what that one has made") {
    Bench bench;
    rejoin(bench);
    bench.round();
    const Incarnation theirs = next_incarnation(former, other_id).value();
    REQUIRE(theirs > bench.own_version().incarnation);
    bench.say(b, bench.said({former, 40}, {of_b, 51}));  // an ancestor is no rival
    CHECK(bench.trains());
    bench.round();
    bench.say(b, bench.said({theirs, 44}, {of_b, 52}, {44, 44}));
    CHECK(!bench.begin());
    CHECK(bench.peer->state() == AkoBeginning::State::joining);
    CHECK(contains(bench.lines.back(), "another process has trained as a and goes on with its"));
    bench.say_versions({theirs, 44}, {of_b, 52});
    bench.bring(row_of(self), {theirs, 44}, 100);
    bench.bring(row_of(b), {of_b, 52}, 3);
    REQUIRE(bench.trains());
    CHECK(bench.own_version() == Version{next_incarnation(theirs, own_id).value(), 44});
    CHECK(bench.peer->rows().ledger().values(row_of(self))[0] == 100);
    // Nor does the optimizer go on with what it carried.
    bench.round();
    CHECK(bench.peer->rows().ledger().values(row_of(self))[0] == 101.5F);
}

TEST_CASE("taken over three times it joins again, and then it gives up") {
    Bench bench;
    rejoin(bench);
    Incarnation highest = bench.own_version().incarnation;
    for (Round round = 41; round <= 44; ++round) {
        CAPTURE(round);
        highest = next_incarnation(highest, other_id).value();
        bench.say(b, bench.said({highest, round}, {of_b, 50}, {round, round}));
        const auto next = bench.begin();
        if (round == 44) {
            REQUIRE(next);
            CHECK(next->kind == Next::Kind::give_up);
            CHECK(next->ending == Ending::broken);
            CHECK(contains(next->why, "another process has trained as a again and again"));
            break;
        }
        REQUIRE(!next);
        bench.say_versions({highest, round}, {of_b, 50});
        bench.bring(row_of(self), {highest, round}, 1);
        REQUIRE(bench.trains());
        highest = bench.own_version().incarnation;
    }
}

TEST_CASE("two that began the row of one name apart from each other: what both made is added up") {
    for (const std::uint64_t id : {former_id, std::uint64_t{5}}) {  // above the own one, and below
        Bench bench;
        bench.settings.exchange.start_wait_s = 1;
        bench.settings.exchange.start_peers_min = 1;
        bench.peer.emplace(bench.settings, bench.initial, bench.mailbox, bench.outbox,
                           bench.snapshots);
        CHECK(!bench.begin());
        REQUIRE(bench.begin(std::chrono::seconds(2))->kind == Next::Kind::train);
        bench.round();
        CHECK(bench.own_version() == Version{first_incarnation(own_id), 1});
        const Incarnation theirs = first_incarnation(id);
        bench.come(bench.said({theirs, 9}, {of_b, 10}, {9, 9}));
        CHECK(!bench.begin());
        CHECK(contains(bench.lines.back(), "each apart from the other"));
        bench.say_versions({theirs, 9}, {of_b, 10});
        bench.bring(row_of(b), {of_b, 10}, 3);
        CHECK(!bench.begin());
        bench.bring(row_of(self), {theirs, 9}, 20);
        for (int k = 0; k < 3 && bench.peer->state() != AkoBeginning::State::begun; ++k) {
            if (bench.begin()) break;
            bench.bring(row_of(self), {theirs, 9}, 20);
        }
        REQUIRE(bench.peer->state() == AkoBeginning::State::begun);
        CHECK(bench.own_version() ==
              Version{next_incarnation(std::max(theirs, first_incarnation(own_id)), own_id).value(),
                      9});
        // Alone of three it made an update of 3.
        CHECK(bench.peer->rows().ledger().values(row_of(self))[0] == 23);
    }
}

TEST_CASE("whose initial parameters are not those of one that has come further gives up") {
    Bench bench;
    bench.settings.initial_of_lowest = true;
    bench.peer.emplace(bench.settings, bench.initial, bench.mailbox, bench.outbox, bench.snapshots);
    bench.come(bench.said({}, {}));
    bench.mailbox.set_presence(c, Presence::up);
    bench.say(c, bench.said({}, {}), true);
    CHECK(!bench.begin());  // nobody has them yet, and nobody asks for them
    bench.now += std::chrono::seconds(3);
    REQUIRE(bench.trains());
    const std::optional<Digest> own = bench.mailbox.take_posted().status->start.initial;
    REQUIRE(own);
    bench.round();
    Status status = bench.said({}, {of_b, 50});
    SUBCASE("of others") {
        status.start.initial = Digest{1};
        bench.say(b, status);
        const std::optional<Next> next = bench.begin();
        REQUIRE(next);
        CHECK(next->kind == Next::Kind::give_up);
        CHECK(contains(next->why, "peer b trains from other initial parameters than this one"));
    }
    SUBCASE("it has come further itself") {
        status = bench.said({}, {});
        status.start.initial = Digest{1};
        bench.say(b, status);
        CHECK(bench.trains());
    }
    SUBCASE("they are the same") {
        status.start.initial = own;
        bench.say(b, status);
        CHECK(bench.trains());
    }
}

TEST_CASE("who does not wait for the start still looks whether others train") {
    Bench bench;
    bench.settings.exchange.start_wait_s = 0;
    bench.peer.emplace(bench.settings, bench.initial, bench.mailbox, bench.outbox, bench.snapshots);
    CHECK(!bench.begin());  // dials are under way
    SUBCASE("nobody answers") {
        bench.mailbox.set_unanswered(0);
        CHECK(bench.trains());
    }
    SUBCASE("nothing is known of some for as long as a dial may take") {
        CHECK(bench.begin(dial_timeout));
    }
    SUBCASE("somebody trains") {
        bench.come(bench.said({}, {of_b, 50}));
        CHECK(!bench.begin());
        CHECK(bench.peer->state() == AkoBeginning::State::joining);
    }
}

TEST_CASE("whoever asks is told which version of every block is held, once") {
    Bench bench;
    rejoin(bench);
    bench.sent<Want>();
    for (int k = 0; k < 3; ++k) bench.say(b, WantVersions{});
    bench.begin();
    const std::vector<Versions> versions = bench.sent<Versions>();
    REQUIRE(versions.size() == 3);
    CHECK(versions[0] == Versions{row_of(self), {{3, bench.own_version()}}});
    CHECK(versions[1] == Versions{row_of(b), {{3, {of_b, 50}}}});
    CHECK(versions[2] == Versions{row_of(c), {{3, {}}}});
}

}  // namespace ako::ako_joining_test
