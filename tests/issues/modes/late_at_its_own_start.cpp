// On a busy machine a peer that was there from the beginning joined the run that the others had
// just begun with it: "joins a run that is at 0 %: 2.4 MB to come", over slow links for all of its
// training. They had heard its first word and made a round before their own first word had gone
// out, which then told of that round. Since then the first word of a session is what held when the
// session began. (What others tell of each other's rounds: tests/unit/modes/ako_joining_test.cpp.)
#include <doctest/doctest.h>

#include <variant>

#include "src/exchange/links.h"
#include "src/modes/ako_traffic.h"
#include "tests/fakes/hand_clock.h"
#include "tests/fakes/no_transport.h"
#include "tests/unit/modes/ako_joining_bench.h"

namespace ako::late_at_its_own_start {

using namespace ako::joining_bench;
using namespace ako::test;

namespace {

/// The network side of peer a of two.
struct LinkBench {
    LinkBench() : settings(settings_of_two()) {}

    static ModeSettings settings_of_two() {
        ModeSettings settings;
        settings.peer_names = {"a", "b"};
        settings.block_elements = 4;
        settings.sample_budget = 1000;
        settings.training.batch.local = 1;
        settings.log = [](const std::string&) {};
        return settings;
    }
    /// The compute half has made so many rounds, and says so.
    void post_round(Round round) {
        Status status;
        status.standing.progress = {{round, round}, {}};
        status.rows.resize(2);
        mailbox.post(status, true);
        clock.advance(std::chrono::milliseconds(1));
        links.poll(clock.now());
    }
    void begin_session() { links.session_up(1, Hello{}); }
    void end_session() { links.session_down(1, "closed", Time{0}); }
    std::optional<OutFrame> next() { return links.next(1, 1024); }
    Round told_round() {
        const auto frame = next();
        REQUIRE(frame);
        return std::get<Status>(frame->header).standing.progress[0].round;
    }

    const ModeSettings settings;
    const Blocks blocks{10, 4};
    Mailbox mailbox{2, 1 << 16};
    Outbox outbox{2};
    Snapshots snapshots{blocks};
    NoTransport transport;
    HandClock clock;
    AkoTraffic traffic{settings, blocks, mailbox, outbox, snapshots, transport, clock};
    Links links{settings, mailbox, traffic, transport, clock};
};

}  // namespace

TEST_CASE("issue: the first word of a session tells of no round made after it began") {
    LinkBench bench;
    bench.post_round(0);
    bench.begin_session();
    bench.post_round(1);
    CHECK(bench.told_round() == 0);
    CHECK(bench.told_round() == 1);  // which follows at once

    // In a later one it tells what holds then, not what was left unsaid in one before.
    bench.end_session();
    bench.begin_session();
    bench.end_session();
    bench.post_round(2);
    bench.begin_session();
    CHECK(bench.told_round() == 2);
    CHECK(!bench.next());
}

TEST_CASE("issue: what came since the first word goes out before the goodbye") {
    LinkBench bench;
    bench.post_round(1);
    bench.begin_session();
    bench.post_round(2);
    bench.mailbox.close();
    bench.links.poll(bench.clock.now());
    CHECK(bench.told_round() == 1);
    CHECK(bench.told_round() == 2);
    CHECK(std::holds_alternative<Bye>(bench.next().value().header));
}

TEST_CASE("issue: what others tell of a peer's rounds waits for its own first word") {
    JoiningBench bench;
    bench.come(bench.said({}, {}));
    bench.mailbox.set_presence(c, Presence::up);
    const Incarnation train = first_incarnation(b_id);
    Status both_train = bench.said({}, {train, 1});
    both_train.rows[row_of(c)] = {{train, 2}, {train, 2}, 2};
    bench.say(b, both_train);
    SUBCASE("which says that it waits, and comes with the others") {
        bench.say(c, bench.said({}, {}), true);
        CHECK(bench.trains());
    }
    SUBCASE("which says that it waits, and comes later") {
        CHECK(!bench.begin());
        CHECK(bench.peer->state() == AkoBeginning::State::waiting);
        bench.say(c, bench.said({}, {}), true);
        CHECK(bench.trains());
    }
    SUBCASE("which says that it trains") {
        CHECK(!bench.begin());
        bench.say(c, both_train, true);
        CHECK(!bench.begin());
        CHECK(bench.peer->state() == AkoBeginning::State::joining);
    }
    SUBCASE("which does not come any more") {
        CHECK(!bench.begin());
        bench.mailbox.set_presence(c, Presence::lost);
        CHECK(!bench.begin());
        CHECK(bench.peer->state() == AkoBeginning::State::joining);
    }
}

}  // namespace ako::late_at_its_own_start
