// A second process under a live peer's name: both sides say so, it hears where the other one is,
// and it comes in soon after the other one has gone.
#include <doctest/doctest.h>

#include "net/hello_check.h"
#include "tests/contains.h"
#include "tests/net/fake_peer.h"
#include "tests/net/raw_peer.h"

namespace ako::second_process_test {

namespace {

using namespace std::chrono_literals;
using test::contains;
using test::FakePeer;
using test::make_settings;
using test::RawListener;
using test::RawPeer;

TransportSettings second_of(PeerIndex self) {
    TransportSettings settings = make_settings(self);
    settings.hello.process_id = 4242;
    return settings;
}

/// p0 and p1 have a session; `dialled_by` says who made it.
struct LivePair {
    explicit LivePair(PeerIndex dialled_by) {
        if (dialled_by == 0) a.transport().set_peer_address(1, b->address());
        if (dialled_by == 1) b->transport().set_peer_address(0, a.address());
        a.start();
        b->start();
        REQUIRE(a.wait([&] { return a.ups[1] == 1; }));
    }
    FakePeer a{make_settings(0)};
    std::unique_ptr<FakePeer> b = std::make_unique<FakePeer>(make_settings(1));
};

TEST_CASE("both sides name the other process and its place, whoever has dialled the live one") {
    for (const PeerIndex dialled_by : {0U, 1U}) {
        CAPTURE(dialled_by);
        LivePair pair(dialled_by);
        FakePeer second(second_of(1));
        second.transport().set_peer_address(0, pair.a.address());
        second.start();
        CHECK(second.wait([&] {
            return second.logged(
                "refuses this peer: another process is live under this peer's "
                "name, at 127.0.0.1");
        }));
        CHECK(pair.a.wait([&] {
            return pair.a.logged(
                "p1: 127.0.0.1 refused: another process is live under its name, "
                "at 127.0.0.1");
        }));
        CHECK(second.wait([&] { return !second.transport().counters()[0].name_taken_by.empty(); }));
        CHECK(contains(second.transport().counters()[0].name_taken_by, "127.0.0.1"));
        CHECK(pair.a.transport().counters()[1].name_taken_by.empty());
        CHECK(pair.a.seen().downs.empty());
        CHECK(second.seen().ups.empty());
    }
}

TEST_CASE("who refuses a second process says so once") {
    LivePair pair(0);
    Hello hello = second_of(1).hello;
    hello.to_peer_name = "p0";
    for (int time = 0; time < 5; ++time) {
        RawPeer second(pair.a.transport().port());
        REQUIRE(second.send(Header{hello}));
        const auto answer = second.read_frame();
        REQUIRE(answer.has_value());
        REQUIRE(std::holds_alternative<Reject>(*answer));
        CHECK(std::get<Reject>(*answer).field == live_process_field);
        std::byte rest;
        CHECK_FALSE(second.read({&rest, 1}));
    }
    CHECK(pair.a.wait([&] { return pair.a.logged_count("another process is live") == 1; }));
}

TEST_CASE("a process is let in within a second after the old session has fallen") {
    LivePair pair(0);
    FakePeer second(second_of(1));
    second.transport().set_peer_address(0, pair.a.address());
    second.start();
    // Until its dials come as seldom as they ever do.
    int polls = 0;
    second.tell([&] { polls = second.polls; });
    REQUIRE(second.wait([&] { return second.polls > polls + 300; }));
    CHECK_FALSE(second.transport().counters()[0].name_taken_by.empty());
    pair.b.reset();
    REQUIRE(pair.a.wait([&] { return pair.a.downs.size() == 1; }));
    const Time fell = pair.a.now();
    REQUIRE(pair.a.wait([&] { return pair.a.ups[1] == 2; }));
    CHECK(pair.a.now() - fell < 1200ms);
    REQUIRE(second.wait([&] { return second.ups[0] == 1; }));
    CHECK(second.transport().counters()[0].name_taken_by.empty());
}

TEST_CASE("a process that is stopped, and whose machine accepts dials, keeps no other one out") {
    RawListener stopped;  // where p1 was
    auto settings = make_settings(0);
    settings.handshake_timeout_ms = 60'000;
    FakePeer a(settings);
    a.transport().set_peer_address(1, stopped.address());
    a.start();
    const auto unanswered = stopped.accept();
    REQUIRE(unanswered->connected());
    FakePeer second(second_of(1));
    second.transport().set_peer_address(0, a.address());
    second.start();
    CHECK(a.wait([&] { return a.ups[1] == 1; }, 10s));
}

}  // namespace
}  // namespace ako::second_process_test
