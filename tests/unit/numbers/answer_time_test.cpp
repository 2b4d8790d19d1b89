// What follows from round trips and rounds that were seen for how long an answer is waited for.
#include "src/numbers/answer_time.h"

#include <doctest/doctest.h>

#include "src/exchange/roster.h"

namespace ako::answer_time_test {

namespace {

constexpr Time ms = std::chrono::milliseconds(1);
constexpr Time began = std::chrono::seconds(7);

}  // namespace

TEST_CASE("before anything was seen an answer is waited for as long as a usual link may need") {
    CHECK(AnswerTime().time() == AnswerTime::first);
}

TEST_CASE("a first round trip counts with twice its length for how far the next may vary") {
    AnswerTime answers;
    answers.add_round_trip(100 * ms);
    CHECK(answers.time() == 300 * ms);
}

TEST_CASE("the steadier the round trips are, the less is waited beyond them") {
    AnswerTime steady, wide;
    for (int k = 0; k < 100; ++k) {
        steady.add_round_trip(100 * ms);
        wide.add_round_trip((k % 2 == 0 ? 50 : 150) * ms);
    }
    CHECK(steady.time() < 102 * ms);
    CHECK(steady.time() >= 100 * ms);
    CHECK(wide.time() > 250 * ms);
    CHECK(wide.time() < 350 * ms);
}

TEST_CASE("a link that becomes slow is followed within a few round trips") {
    AnswerTime answers;
    for (int k = 0; k < 50; ++k) answers.add_round_trip(60 * ms);
    int until_followed = 0;
    while (answers.time() < 2000 * ms && until_followed < 100) {
        answers.add_round_trip(2000 * ms);
        ++until_followed;
    }
    CHECK(until_followed <= 6);
    for (int k = 0; k < 100; ++k) answers.add_round_trip(2000 * ms);
    CHECK(answers.time() > 1990 * ms);
    CHECK(answers.time() < 2100 * ms);
}

TEST_CASE("who stood still for an hour is not waited for much longer than before") {
    AnswerTime answers;
    for (Round round = 1; round < 100; ++round) {
        answers.add_round_trip(60 * ms);
        answers.add_round(round, began + static_cast<int>(round) * 100 * ms);
    }
    const Time before = answers.time();
    answers.add_round_trip(3'600'000 * ms);
    answers.add_round(100, began + 3'610'000 * ms);
    CHECK(answers.time() < 5 * before);
    for (Round round = 101; round < 120; ++round) {
        answers.add_round_trip(60 * ms);
        answers.add_round(round, began + 3'600'000 * ms + static_cast<int>(round) * 100 * ms);
    }
    CHECK(answers.time() < 3 * before / 2);
}

TEST_CASE("however slow all is, a question is put again within a limit") {
    AnswerTime answers;
    for (Round round = 1; round < 100; ++round) {
        answers.add_round_trip(100 * ms);
        answers.add_round(round, began + static_cast<int>(round) * 60'000 * ms);
    }
    CHECK(answers.time() == AnswerTime::longest);
    answers.end_rounds();
    CHECK(answers.time() < 110 * ms);
}

TEST_CASE("who looks for questions between two rounds answers later by a round") {
    AnswerTime answers;
    for (Round round = 1; round < 100; ++round) {
        answers.add_round_trip(10 * ms);
        // Some a Status each: what is told of is the newest.
        answers.add_round(3 * round, began + static_cast<int>(round) * 600 * ms);
    }
    CHECK(answers.time() > 205 * ms);
    CHECK(answers.time() < 220 * ms);
    answers.add_round(3, began + 100'000 * ms);  // an old Status says nothing
    CHECK(answers.time() < 220 * ms);
}

TEST_CASE("no haste on a near link, and no round trip that a clock made negative") {
    AnswerTime answers;
    answers.add_round_trip(-5 * ms);
    CHECK(answers.time() == AnswerTime::first);
    for (int k = 0; k < 50; ++k) answers.add_round_trip(ms / 10);
    CHECK(answers.time() == AnswerTime::least);
}

TEST_CASE("a new session begins with nothing seen of its way") {
    AnswerTime answers;
    answers.add_round_trip(2000 * ms);
    answers.begin_session();
    CHECK(answers.time() == AnswerTime::first);
}

TEST_CASE(
    "all that can be reached: the longest; what the cluster file says comes before what is seen") {
    Roster seen(0, 3), given(0, 3, 40 * ms);
    CHECK(seen.answer_time() == AnswerTime::first);
    CHECK(given.answer_time() == 40 * ms);
    for (Roster* roster : {&seen, &given}) {
        for (const PeerIndex peer : {1u, 2u}) {
            Status status;
            status.standing.progress.resize(3);
            status.rows.resize(3);
            status.heartbeat.sent_at = began;
            status.heartbeat.echo_sent_at = began;
            roster->set_presence(peer, Presence::up);
            roster->heard_status(peer, status, began + peer * 100 * ms, 1);
        }
    }
    CHECK(seen.answer_time(1) == 300 * ms);
    CHECK(seen.answer_time() == 600 * ms);
    CHECK(seen.answer_time_at_first() == AnswerTime::first);
    CHECK(given.answer_time(1) == 40 * ms);
    CHECK(given.answer_time_at_first() == 40 * ms);
    seen.set_presence(2, Presence::lost);
    CHECK(seen.answer_time() == 300 * ms);
}

}  // namespace ako::answer_time_test
