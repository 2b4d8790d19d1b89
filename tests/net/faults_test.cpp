// What a peer may do wrong, from malformed bytes to silence, and what the transport makes of it.
#include <doctest/doctest.h>

#include "src/numbers/checksum.h"
#include "tests/contains.h"
#include "tests/net/fake_peer.h"
#include "tests/net/raw_peer.h"

namespace ako::faults_test {

namespace {

using namespace std::chrono_literals;
using test::contains;
using test::FakePeer;
using test::make_settings;
using test::Pair;
using test::pattern;
using test::RawPeer;

Hello good_hello() {
    Hello hello = make_settings(1).hello;
    hello.to_peer_name = "p0";
    return hello;
}

/// A transport with a raw peer in a standing session; then `misbehave`. Returns the reason.
template <class Misbehave>
std::string reason_after(FakePeer& peer, Misbehave misbehave) {
    const int ups = peer.seen().ups[1];
    const std::size_t downs = peer.seen().downs.size();
    RawPeer raw(peer.transport().port());
    REQUIRE(raw.shake_hands(good_hello()));
    REQUIRE(peer.wait([&] { return peer.ups[1] == ups + 1; }));
    misbehave(raw);
    REQUIRE(peer.wait([&] { return peer.downs.size() == downs + 1; }));
    return peer.seen().downs.back().second;
}

TEST_CASE("malformed frames end the session with the reason, and the next one is served") {
    FakePeer a(make_settings(0));
    a.start();
    const auto head = encode_frame_head(Partial{}, 64);
    CHECK(contains(reason_after(a,
                                [&](RawPeer& raw) {
                                    auto wrong = head;
                                    wrong[0] = std::byte{'B'};
                                    raw.send(wrong);
                                }),
                   "does not begin with \"AKO2\""));
    CHECK(contains(reason_after(a,
                                [&](RawPeer& raw) {
                                    raw.send(encode_prefix({header_bytes_max + 8, 0}));
                                }),
                   "oversized frame: a header of"));
    CHECK(contains(reason_after(a,
                                [&](RawPeer& raw) {
                                    raw.send(encode_prefix({64, payload_bytes_limit + 4}));
                                }),
                   "oversized frame: a payload of"));
    CHECK(contains(reason_after(a,
                                [&](RawPeer& raw) {
                                    raw.send(encode_prefix({64, 0, crc32c(pattern(64))}));
                                    raw.send(pattern(64));
                                }),
                   "malformed header"));
    CHECK(contains(reason_after(a, [&](RawPeer& raw) { raw.send(Header{good_hello()}); }),
                   "Hello in a session that stands"));
    CHECK(contains(reason_after(a, [&](RawPeer& raw) { raw.send(Header{Reject{}}); }),
                   "Reject in a session that stands"));
    // Truncated everywhere: in the prefix, in the header, in the payload.
    for (const std::size_t length : {5UL, 20UL, 28UL, head.size()})
        CHECK(contains(reason_after(a,
                                    [&](RawPeer& raw) {
                                        raw.send(std::span(head).first(length));
                                        raw.close();
                                    }),
                       "closed by the peer"));
    CHECK(a.seen().received.empty());
    CHECK(a.seen().abandoned_count == 1);  // the one that ended in the payload
    CHECK(a.seen().buffers_held == 0);
    CHECK(a.transport().counters()[1].last_error.find("closed by the peer") != std::string::npos);
}

TEST_CASE("what is malformed in place of a Hello is no session") {
    FakePeer a(make_settings(0));
    a.start();
    const std::vector<std::vector<std::byte>> wrongs = {
        pattern(64),
        encode_frame_head(Bye{}, 0),
        encode_frame_head(Chunk{}, 0),
        encode_frame_head(good_hello(), 4),
        [] {
            const auto prefix = encode_prefix({handshake_header_bytes_max + 8, 0});
            return std::vector<std::byte>(prefix.begin(), prefix.end());
        }(),
    };
    for (const auto& wrong : wrongs) {
        RawPeer raw(a.transport().port());
        REQUIRE(raw.send(wrong));
        CHECK_FALSE(raw.read_frame().has_value());
    }
    CHECK(a.seen().ups.empty());
}

TEST_CASE("random bytes in a standing session never harm the transport") {
    FakePeer a(make_settings(0));
    a.start();
    for (unsigned seed = 0; seed < 20; ++seed) {
        const std::string why = reason_after(a, [&](RawPeer& raw) {
            // Honest sizes, random header, so that every layer has its turn.
            const std::size_t bytes = 8 * (1 + seed);
            const auto random = pattern(bytes + 512, seed);
            raw.send(encode_prefix({bytes, 0, crc32c(std::span(random).first(bytes))}));
            raw.send(random);
        });
        CHECK(why.find("malformed") == 0);
    }
}

TEST_CASE("a header that the host refuses ends the session with the complaint") {
    FakePeer a(make_settings(0));
    a.complaint = "block 9 of 4";
    a.start();
    CHECK(reason_after(a, [&](RawPeer& raw) { raw.send(Header{Partial{}}); }) == "block 9 of 4");
}

TEST_CASE("after a malformed frame two transports find each other again") {
    Pair pair;
    REQUIRE(pair.up());
    pair.b.tell([&] { pair.b.complaint = "no"; });
    pair.a.send(1, Partial{});
    REQUIRE(pair.b.wait([&] { return !pair.b.downs.empty(); }));
    CHECK(pair.b.seen().downs[0].second == "no");
    pair.b.tell([&] { pair.b.complaint.clear(); });
    REQUIRE(pair.a.wait([&] { return pair.a.ups[1] >= 2; }));
    REQUIRE(pair.b.wait([&] { return pair.b.ups[0] >= 2; }));
    pair.a.send(1, Bye{5});
    CHECK(pair.b.wait([&] { return !pair.b.received.empty(); }));
}

TEST_CASE("a peer killed in mid-message is down at once, and lost after the life time-out") {
    auto settings = make_settings(0);
    settings.life_timeout_ms = 400;
    FakePeer a(settings);
    a.start();
    RawPeer raw(a.transport().port());
    REQUIRE(raw.shake_hands(good_hello()));
    REQUIRE(a.wait([&] { return a.ups[1] == 1; }));
    REQUIRE(raw.send(encode_frame_head(Partial{}, 4096)));
    REQUIRE(raw.send(pattern(1000)));
    REQUIRE(a.wait([&] { return a.buffers_held == 1; }));
    const Time killed = a.now();
    raw.reset();
    REQUIRE(a.wait([&] { return !a.downs.empty(); }));
    CHECK(a.now() - killed < 300ms);
    CHECK(a.seen().silences[0] < 400ms);  // it broke: nobody had waited for it
    CHECK(a.seen().abandoned_count == 1);
    CHECK(a.seen().losses.empty());
    REQUIRE(a.wait([&] { return !a.losses.empty(); }));
    const Time lost = a.seen().lost_at[0] - killed;
    CHECK(lost > 300ms);
    CHECK(lost < 2s);
    CHECK(a.seen().losses[0].second.find("no byte for 400 ms") == 0);
    // Once per silence.
    int polls = 0;
    a.tell([&] { polls = a.polls; });
    REQUIRE(a.wait([&] { return a.polls > polls + 60; }));
    CHECK(a.seen().losses.size() == 1);
}

TEST_CASE(
    "a peer that falls silent is down and lost after the life time-out; one that comes back "
    "can be lost again") {
    auto settings = make_settings(0);
    settings.life_timeout_ms = 300;
    FakePeer a(settings);
    a.start();
    for (std::size_t time = 1; time <= 2; ++time) {
        RawPeer raw(a.transport().port());
        REQUIRE(raw.shake_hands(good_hello()));
        REQUIRE(a.wait([&] { return a.ups[1] == static_cast<int>(time); }));
        REQUIRE(a.wait([&] { return a.losses.size() == time; }));
        CHECK(a.seen().downs.size() == time);
        CHECK(a.seen().downs.back().second == "no byte for 300 ms");
        CHECK(a.seen().silences.back() >= 300ms);
    }
}

TEST_CASE("any byte is a sign of life") {
    auto settings = make_settings(0);
    settings.life_timeout_ms = 300;
    FakePeer a(settings);
    a.start();
    RawPeer raw(a.transport().port());
    REQUIRE(raw.shake_hands(good_hello()));
    REQUIRE(a.wait([&] { return a.ups[1] == 1; }));
    const auto head = encode_frame_head(Bye{1}, 0);
    // One frame, a byte at a time, over more than the life time-out.
    for (std::size_t i = 0; i < head.size(); ++i) {
        REQUIRE(raw.send(std::span(head).subspan(i, 1)));
        int polls = 0;
        a.tell([&] { polls = a.polls; });
        REQUIRE(a.wait([&] { return a.polls > polls + 1; }));
    }
    REQUIRE(a.wait([&] { return a.received.size() == 1; }));
    CHECK(a.seen().downs.empty());
}

TEST_CASE("a peer that was never seen is not lost, one that said Bye neither") {
    auto settings = make_settings(0, 3);
    settings.life_timeout_ms = 100;
    FakePeer a(settings);
    a.start();
    Hello hello = make_settings(1, 3).hello;
    hello.to_peer_name = "p0";
    RawPeer raw(a.transport().port());
    REQUIRE(raw.shake_hands(hello));
    REQUIRE(raw.send(Header{Bye{7}}));
    REQUIRE(a.wait([&] { return a.received.size() == 1; }));
    raw.close();
    REQUIRE(a.wait([&] { return a.downs.size() == 1; }));
    int polls = 0;
    a.tell([&] { polls = a.polls; });
    REQUIRE(a.wait([&] { return a.polls > polls + 40; }));
    CHECK(a.seen().losses.empty());
}

TEST_CASE("why there is no session can be told apart") {
    auto settings = make_settings(0, 5);
    settings.connect_timeout = 300ms;
    settings.peers[1].address = "no-such-host.invalid:7001";
    settings.peers[2].address = "127.0.0.1:1";
    settings.peers[3].address = "192.0.2.1:7001";  // a network that leads nowhere (RFC 5737)
    FakePeer a(settings);
    auto other = make_settings(4, 5);
    other.hello.protocol = 99;
    FakePeer newer(other);
    a.transport().set_peer_address(4, newer.address());
    a.start();
    newer.start();
    const auto error = [&](PeerIndex peer) { return a.transport().counters()[peer].last_error; };
    CHECK(a.wait([&] {
        return !error(1).empty() && !error(2).empty() && !error(3).empty() && !error(4).empty();
    }));
    CHECK(contains(error(1), "the name in no-such-host.invalid:7001 does not resolve: "));
    CHECK(contains(error(2), "nobody listens on 127.0.0.1:1: connection refused"));
    CHECK(contains(error(3), "192.0.2.1:7001"));
    CHECK(contains(error(4), "another version of Ako"));
    CHECK(contains(error(4), "protocol: expected"));
}

TEST_CASE("a name stands in the messages beside what it was looked up to") {
    auto settings = make_settings(0, 3);
    settings.peers[1].address = "localhost:1";
    FakePeer a(settings);
    auto other = make_settings(2, 3);
    other.hello.run_name = "another";
    FakePeer stranger(other);
    a.transport().set_peer_address(2, "localhost:" + std::to_string(stranger.transport().port()));
    a.start();
    const auto error = [&](PeerIndex peer) { return a.transport().counters()[peer].last_error; };
    CHECK(a.wait([&] { return !error(1).empty(); }));
    CHECK(contains(error(1), "nobody listens on localhost:1 ("));
    stranger.start();  // whose own dials lead nowhere
    const std::string port = std::to_string(stranger.transport().port());
    CHECK(a.wait([&] {
        return a.logged("p2: localhost:" + port + " (127.0.0.1) refuses this peer: another run");
    }));
}

TEST_CASE("an attempt is repeated, and logged once as long as it fails alike") {
    auto settings = make_settings(0, 3);
    settings.peers[1].address = "no-such-host.invalid:7001";
    settings.peers[2].address = "127.0.0.1:1";
    FakePeer a(settings);
    a.start();
    REQUIRE(a.wait([&] { return a.logged("does not resolve") && a.logged("nobody listens"); }));
    // As many polls as several attempts take: the waits are 100, 200 and 400 ms at first.
    int polls = 0;
    a.tell([&] { polls = a.polls; });
    REQUIRE(a.wait([&] { return a.polls > polls + 150; }));
    CHECK(a.wait([&] { return a.logged_count("p2: nobody listens on 127.0.0.1:1") == 1; }));
    // "Not known", and where the name server is slow "no answer" before.
    CHECK(
        a.wait([&] { return a.logged_count("no-such-host.invalid:7001 does not resolve") <= 2; }));
}

TEST_CASE("a peer that is started later is found by its name") {
    const std::string port = [] {
        const FakePeer nobody(make_settings(1));
        return nobody.address().substr(nobody.address().find(':'));
    }();
    FakePeer a(make_settings(0));
    a.transport().set_peer_address(1, "localhost" + port);
    a.start();
    REQUIRE(a.wait([&] { return a.logged("p1: nobody listens on localhost" + port); }));
    auto settings = make_settings(1);  // its own dials lead nowhere
    settings.peers[1].listen = "127.0.0.1" + port;
    FakePeer late(settings);
    late.start();
    CHECK(a.wait([&] { return a.ups[1] == 1; }));
}

TEST_CASE("what cannot start says so, with the address") {
    FakePeer a(make_settings(0));
    auto taken = make_settings(1);
    taken.peers[1].listen = a.address();
    SteadyClock clock;
    TcpTransport second(taken, clock);
    try {
        second.bind();
        FAIL("the port is taken");
    } catch (const StartupError& error) {
        CHECK(contains(error.what(), a.address().c_str()));
        CHECK(contains(error.what(), "Address already in use"));
        CHECK_FALSE(error.hint().empty());
    }
    auto elsewhere = make_settings(1);
    elsewhere.peers[1].listen = "192.0.2.1:0";
    TcpTransport third(elsewhere, clock);
    CHECK_THROWS_AS(third.bind(), StartupError);
    for (const char* address : {"", "host", "host:", "host:x", "host:65536", ":7001", "::1:7001"}) {
        auto bad = make_settings(0);
        bad.peers[1].address = address;
        CAPTURE(address);
        CHECK_THROWS_AS(TcpTransport(bad, clock), StartupError);
    }
    auto six = make_settings(0);
    six.peers[1].address = "[::1]:7001";
    CHECK_NOTHROW(TcpTransport(six, clock));
}

}  // namespace
}  // namespace ako::faults_test
