// A user saw: after a peer's process had been stopped for 18 s, three others that had died
// meanwhile counted as live for 20 s more. The time of the pause was excused even when a byte read
// after the pause had begun the silence anew, so that the silence began in the future. Since then
// it never begins later than now, and a loss is noticed after the life time-out whatever was
// before.
#include <doctest/doctest.h>

#include "tests/contains.h"
#include "tests/fakes/hand_clock.h"
#include "tests/net/fake_peer.h"
#include "tests/net/raw_peer.h"

namespace ako::pause_of_this_process {

namespace {

using namespace std::chrono_literals;
using test::contains;
using test::FakePeer;
using test::HandClock;
using test::make_settings;
using test::RawPeer;

constexpr Time pause = 18s;
constexpr Time life_timeout = 2s;

/// A transport in virtual time, with a session to a bare socket.
struct Bench {
    Bench() : settings(make_settings(0)) {
        settings.life_timeout_ms = 2000;
        peer = std::make_unique<FakePeer>(settings, clock);
        peer->start();
        raw = std::make_unique<RawPeer>(peer->transport().port());
        Hello hello = make_settings(1).hello;
        hello.to_peer_name = "p0";
        REQUIRE(raw->shake_hands(hello));
        REQUIRE(peer->wait([&] { return peer->ups[1] == 1; }));
    }

    /// Has `after` done when the pause is over, before this process's next tick.
    void stop_for_a_while(const std::function<void()>& after) {
        peer->run([&, after] {
            clock.advance(pause);
            after();
        });
    }
    /// The virtual time until the loss, in steps that are no pauses; at most `limit`.
    Time until_lost(Time limit) {
        const Time began = clock.now();
        while (clock.now() - began < limit && peer->seen().losses.empty()) {
            const int polls = peer->seen().polls;
            peer->run([&] { clock.advance(40ms); });
            REQUIRE(peer->wait([&] { return peer->polls >= polls + 2; }));
        }
        return clock.now() - began;
    }

    HandClock clock{std::chrono::hours(1)};
    TransportSettings settings;
    std::unique_ptr<FakePeer> peer;
    std::unique_ptr<RawPeer> raw;
};

TEST_CASE("what was read after a pause of this process begins the silence anew") {
    Bench bench;
    bench.stop_for_a_while([&] { bench.raw->send(Header{Partial{}}); });
    REQUIRE(bench.peer->wait([&] { return bench.peer->received.size() == 1; }));
    const Time silence = bench.until_lost(pause);
    CHECK(silence > life_timeout - 100ms);
    CHECK(silence < life_timeout + 200ms);
    CHECK(contains(bench.peer->seen().losses.at(0).second, "no byte for 2000 ms"));
}

TEST_CASE("so it is for a session that ended right after the pause") {
    Bench bench;
    bench.stop_for_a_while([&] {
        bench.raw->send(Header{Partial{}});
        bench.raw->close();
    });
    REQUIRE(bench.peer->wait([&] { return bench.peer->downs.size() == 1; }));
    const Time silence = bench.until_lost(pause);
    CHECK(silence > life_timeout - 100ms);
    CHECK(silence < life_timeout + 200ms);
}

TEST_CASE("a pause of this process is no silence of the others") {
    Bench bench;
    bench.stop_for_a_while([] {});
    const int polls = bench.peer->seen().polls;
    REQUIRE(bench.peer->wait([&] { return bench.peer->polls >= polls + 3; }));
    CHECK(bench.peer->seen().downs.empty());
    CHECK(bench.until_lost(pause) < life_timeout + 200ms);
}

}  // namespace
}  // namespace ako::pause_of_this_process
