// Two processes under one name: the second waits as long as an old session of the first may stand,
// and then ends with where the other one is.
#include "src/exchange/name_taken.h"

#include <doctest/doctest.h>

#include "src/modes/make_exchange.h"
#include "tests/contains.h"
#include "tests/fakes/hand_clock.h"
#include "tests/fakes/no_transport.h"

namespace ako::name_taken_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::contains;

namespace {

constexpr Time life_timeout = seconds(2);

LinkCounters up() {
    LinkCounters link;
    link.up = true;
    return link;
}

LinkCounters taken_by(const std::string& where) {
    LinkCounters link;
    link.name_taken_by = where;
    return link;
}

/// Peer b of three, which waits for the others. A wait takes half a second.
struct Bench {
    Bench() {
        transport.links.resize(3);
        ModeSettings settings;
        settings.self = 1;
        settings.process_id = 77;
        settings.peer_names = {"a", "b", "c"};
        settings.exchange.start_wait_s = 8;
        settings.exchange.life_timeout_ms = life_timeout / milliseconds(1);
        settings.training.batch.local = 1;
        settings.sample_budget = 300;
        settings.log = [](const std::string&) {};
        settings.waits = [this](const auto&) {
            clock.advance(milliseconds(500));
            if (meanwhile) meanwhile();
        };
        exchange = make_exchange(settings, std::vector<float>(120), transport, clock, interrupts);
        exchange->start();
    }
    double waited() const {
        return std::chrono::duration<double>(clock.now() - Time(seconds(1000))).count();
    }

    std::atomic<int> interrupts = 0;
    test::HandClock clock{seconds(1000)};
    test::NoTransport transport;
    std::function<void()> meanwhile;
    std::unique_ptr<ModeExchange> exchange;
};

}  // namespace

TEST_CASE("who is refused for two life time-outs and a second is the second process of its name") {
    NameTaken name(life_timeout);
    const std::vector<LinkCounters> links = {taken_by("10.0.0.5"), {}, {}};
    name.look(links, false, seconds(10));
    CHECK(name.taken());
    name.look(links, false, milliseconds(14'999));
    CHECK_FALSE(name.for_good(milliseconds(14'999)));
    CHECK(name.for_good(seconds(15)));
    // The old session has fallen.
    name.look({{}, {}, {}}, false, seconds(15));
    CHECK_FALSE(name.taken());
    CHECK_FALSE(name.for_good(seconds(30)));
    name.look(links, false, seconds(30));
    CHECK_FALSE(name.for_good(seconds(34)));
}

TEST_CASE("one that waits ends if more refuse it than let it in; one that trains does not") {
    const std::vector<LinkCounters> links = {taken_by("10.0.0.5"), taken_by("10.0.0.5"), up()};
    NameTaken waiting(life_timeout);
    waiting.look(links, false, seconds(10));
    CHECK(waiting.for_good(seconds(15)));
    // The word of one link is not enough while another stands.
    NameTaken told_by_one(life_timeout);
    told_by_one.look({taken_by("10.0.0.5"), {}, up()}, false, seconds(10));
    CHECK_FALSE(told_by_one.taken());
    NameTaken training(life_timeout);
    training.look(links, true, seconds(10));
    CHECK_FALSE(training.taken());
    // It stood still, and nobody has a session with it any more.
    training.look({taken_by("10.0.0.5"), {}, {}}, true, seconds(11));
    CHECK(training.for_good(seconds(16)));
    // A session that stands says more than how a dial ended before.
    LinkCounters both = taken_by("10.0.0.5");
    both.up = true;
    training.look({both, {}, {}}, false, seconds(17));
    CHECK_FALSE(training.taken());
}

TEST_CASE("the sentence has the name, who sees the other process, where, and what to do") {
    const std::string why =
        NameTaken::why(1, {"a", "b", "c"}, {taken_by("10.0.0.5"), {}, taken_by("b:7701")});
    CHECK(why ==
          "another process runs as peer b (a sees it at 10.0.0.5, c sees it at b:7701): end that "
          "one first, or start this one as another peer of the file");
}

TEST_CASE("the second process gives up soon, not after start_wait_s") {
    Bench bench;
    bench.transport.links[0] = taken_by("10.0.0.5");
    const Next next = *bench.exchange->begin_round(forever);
    CHECK(next.kind == Next::Kind::give_up);
    CHECK(next.ending == Ending::failed);
    CHECK(contains(next.why, "another process runs as peer b (a sees it at 10.0.0.5)"));
    CHECK(bench.waited() >= 5);
    CHECK(bench.waited() < 6);
}

TEST_CASE("a restarted process whose old session falls waits for the others as ever") {
    Bench bench;
    bench.transport.links[2] = taken_by("10.0.0.5");
    bench.meanwhile = [&bench] {
        if (bench.waited() >= 4) bench.transport.links[2] = {};
    };
    const Next next = *bench.exchange->begin_round(forever);
    CHECK(next.kind == Next::Kind::give_up);
    CHECK(contains(next.why, "only 1 of 3 peers came within start_wait_s"));
    // Where to look, and what to do.
    CHECK(contains(next.why, "log-"));
    CHECK(contains(next.why, "exchange.start_peers_min in the cluster file"));
    CHECK(bench.waited() >= 8);
}

TEST_CASE("Ctrl-C ends the second process at once") {
    Bench bench;
    bench.transport.links[0] = taken_by("10.0.0.5");
    bench.meanwhile = [&bench] { bench.interrupts = 1; };
    const Next next = *bench.exchange->begin_round(forever);
    CHECK(next.kind == Next::Kind::give_up);
    CHECK(next.why == never_began);
    CHECK(bench.waited() < 1);
}

}  // namespace ako::name_taken_test
