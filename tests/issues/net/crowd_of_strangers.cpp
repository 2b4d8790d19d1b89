// A user saw: with 256 connections open of somebody who said nothing, a peer neither dialled nor
// let anybody in, because own dials and strangers shared the places for handshakes; and somebody
// who said a new name of a run each time wrote 1.5 MB/s into the log. Since then own dials have
// places of their own, the stranger who has been silent longest goes when there is one more, and
// the log takes some lines of strangers, then one a second, and says how many it left out.
#include <doctest/doctest.h>

#include <list>

#include "net/line_limit.h"
#include "tests/contains.h"
#include "tests/net/fake_peer.h"
#include "tests/net/raw_peer.h"

namespace ako::crowd_of_strangers {

namespace {

using namespace std::chrono_literals;
using test::contains;
using test::FakePeer;
using test::make_settings;
using test::RawPeer;

constexpr int crowd_size = 300;  // more than there are places

/// All are connected and the newest is noticed.
std::list<RawPeer> silent_crowd(FakePeer& peer) {
    std::list<RawPeer> crowd;
    for (int i = 0; i < crowd_size; ++i) crowd.emplace_back(peer.transport().port());
    REQUIRE(peer.wait([&] { return peer.logged("too many connections without a Hello"); }));
    return crowd;
}

TransportSettings patient(PeerIndex self) {
    TransportSettings settings = make_settings(self);
    settings.handshake_timeout_ms = 60'000;  // the crowd stays
    return settings;
}

TEST_CASE("silent strangers do not keep a peer from dialling") {
    const std::string address = [] {
        const FakePeer nobody(make_settings(1));
        return nobody.address();
    }();
    FakePeer a(patient(0));
    a.transport().set_peer_address(1, address);
    a.start();
    const auto crowd = silent_crowd(a);
    TransportSettings settings = make_settings(1);  // its own dials lead nowhere
    settings.peers[1].listen = address;
    FakePeer b(settings);
    b.start();
    CHECK(a.wait([&] { return a.ups[1] == 1; }));
}

TEST_CASE("silent strangers do not keep an honest peer out") {
    FakePeer a(patient(0));
    a.start();
    const auto crowd = silent_crowd(a);
    RawPeer honest(a.transport().port());
    Hello hello = make_settings(1).hello;
    hello.to_peer_name = "p0";
    REQUIRE(honest.shake_hands(hello));
    CHECK(a.wait([&] { return a.ups[1] == 1; }));
}

TEST_CASE(
    "whatever strangers say, the log takes so many lines of them, and says what it left out") {
    FakePeer a(make_settings(0));
    a.start();
    const Time began = a.now();
    constexpr int others = 200;
    for (int i = 0; i < others; ++i) {
        Hello hello = make_settings(1).hello;
        hello.to_peer_name = "p0";
        hello.run_name = "a flood, " + std::to_string(i);
        RawPeer raw(a.transport().port());
        REQUIRE(raw.send(Header{hello}));
        raw.read_frame();  // the Reject: the line is written or left out
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(a.now() - began).count();
    std::ptrdiff_t lines = 0;
    a.wait([&] {
        lines = a.logged_count("a flood, ");
        return true;
    });
    CHECK(lines >= LineLimit::burst);
    CHECK(lines <= static_cast<std::ptrdiff_t>(LineLimit::burst) + seconds + 1);
}

TEST_CASE("a burst of lines, then one a second, and a count of the rest") {
    LineLimit limit;
    Time now = 1h;
    unsigned allowed = 0;
    for (int i = 0; i < 1000; ++i) allowed += limit.allows(now) ? 1 : 0;
    CHECK(allowed == LineLimit::burst);
    CHECK_FALSE(limit.summary(now).has_value());
    for (int second = 1; second <= 10; ++second) {
        now += 1s;
        CHECK(limit.allows(now));
        CHECK_FALSE(limit.allows(now));
    }
    const auto summary = limit.summary(now);
    REQUIRE(summary.has_value());
    CHECK(contains(*summary, "990 lines"));
    CHECK_FALSE(limit.summary(now + 1h).has_value());  // once
    now += 1h;
    allowed = 0;
    for (int i = 0; i < 1000; ++i) allowed += limit.allows(now) ? 1 : 0;
    CHECK(allowed == LineLimit::burst);
}

}  // namespace
}  // namespace ako::crowd_of_strangers
