// A user saw: with a cluster key, somebody who had recorded one greeting of a peer and said it
// again every 3 s kept the link to that peer down for as long as he liked, though he could confirm
// nothing: an answered greeting called off the own dial and waited for the confirmation. Since then
// it holds back one dial for a second at most, and the next dial is made whatever is said again.
#include <doctest/doctest.h>

#include <list>

#include "tests/net/fake_peer.h"
#include "tests/net/raw_peer.h"

namespace ako::greeting_said_again {

namespace {

using namespace std::chrono_literals;
using test::FakePeer;
using test::make_settings;
using test::RawListener;
using test::RawPeer;
using Step = ClusterKey::Step;

const ClusterKey key("the key of these tests");

/// What peer `from` of two says first to the other one.
Hello greeting_of(PeerIndex from) {
    Hello hello = make_settings(from).hello;
    hello.to_peer_name = "p" + std::to_string(1 - from);
    hello.key_proof = KeyProof{ClusterKey::make_nonce(), {}};
    hello.key_proof->mac = key.mac(Step::greeting, hello, nullptr);
    return hello;
}

/// Peer `self`, whom the other one cannot dial, with strangers who have recorded a greeting.
void connects_beside_greetings(PeerIndex self) {
    const PeerIndex other = 1 - self;
    RawListener listener;  // the other one
    TransportSettings settings = make_settings(self);
    settings.key = key;
    FakePeer peer(settings);
    peer.transport().set_peer_address(other, listener.address());
    const Hello recorded = greeting_of(other);
    std::list<RawPeer> strangers;
    const auto say_again = [&] {
        RawPeer& stranger = strangers.emplace_back(peer.transport().port());
        REQUIRE(stranger.send(Header{recorded}));
        stranger.read_hello();  // answered or closed
    };
    peer.start();
    // The greeting is there before the first dial, and again before its answer.
    say_again();
    const auto dial = listener.accept();
    REQUIRE(dial->connected());
    const auto greeting = dial->read_hello();
    REQUIRE(greeting.has_value());
    say_again();
    Hello answer = greeting_of(other);
    answer.key_proof->mac = key.mac(Step::answer, *greeting, &answer);
    REQUIRE(dial->send(Header{answer}));
    CHECK(dial->read_hello().has_value());  // the confirmation
    REQUIRE(peer.wait([&] { return peer.ups[other] == 1; }));
    say_again();
    int polls = 0;
    peer.tell([&] { polls = peer.polls; });
    REQUIRE(peer.wait([&] { return peer.polls > polls + 20; }));
    CHECK(peer.seen().downs.empty());
}

TEST_CASE("a greeting that is said again does not keep the lower index from dialling") {
    connects_beside_greetings(0);
}

TEST_CASE("a greeting that is said again does not keep the higher index from dialling") {
    connects_beside_greetings(1);
}

TEST_CASE("greetings said again all the time hold back one dial, for a second at most") {
    RawListener listener;
    TransportSettings settings = make_settings(1);
    settings.key = key;
    FakePeer peer(settings);
    peer.transport().set_peer_address(0, listener.address());
    const Hello recorded = greeting_of(0);
    std::list<RawPeer> strangers;
    peer.start();
    for (int i = 0; i < 20; ++i)
        REQUIRE(strangers.emplace_back(peer.transport().port()).send(Header{recorded}));
    const Time began = peer.now();
    // Every handshake fails, so the dials go on; each but the first is not held back.
    for (int dial = 0; dial < 3; ++dial) {
        const auto raw = listener.accept();
        REQUIRE(raw->connected());
        REQUIRE(raw->read_hello().has_value());
        REQUIRE(strangers.emplace_back(peer.transport().port()).send(Header{recorded}));
    }
    CHECK(peer.now() - began < 10s);
}

}  // namespace
}  // namespace ako::greeting_said_again
