// Which peer is let in: each field of Hello, crossing dials, strangers, and one session per pair.
#include <doctest/doctest.h>

#include "net/codec.h"
#include "net/hello_check.h"
#include "tests/net/fake_peer.h"
#include "tests/net/raw_peer.h"

namespace ako::handshake_test {

namespace {

using namespace std::chrono_literals;
using test::FakePeer;
using test::make_settings;
using test::Pair;
using test::RawPeer;

/// A Hello that peer `to` of make_settings accepts from peer `from`.
Hello good_hello(PeerIndex from, PeerIndex to, std::size_t count = 2) {
    Hello hello = make_settings(from, count).hello;
    hello.to_peer_name = "p" + std::to_string(to);
    return hello;
}

TEST_CASE("two peers greet and stand") {
    Pair pair;
    REQUIRE(pair.up());
    CHECK(pair.a.transport().counters()[1].up);
    CHECK(pair.a.transport().counters()[1].sessions == 1);
    CHECK(pair.a.transport().counters()[0].sessions == 0);
}

struct Mutation {
    const char* field;
    std::function<void(Hello&)> mutate;
    std::string expected;
    const char* got;
};

const std::vector<Mutation>& mutations() {
    static const std::vector<Mutation> all = {
        {"protocol", [](Hello& hello) { hello.protocol = 77; }, std::to_string(protocol_version),
         "77"},
        {"run_name", [](Hello& hello) { hello.run_name = "other"; }, "a test", "other"},
        {"training_digest", [](Hello& hello) { hello.training_digest[0] = 0xaa; },
         "0101010101010101", "aa01010101010101"},
        {"layout_digest", [](Hello& hello) { hello.layout_digest[1] = 0xbb; }, "0202020202020202",
         "02bb020202020202"},
        {"initial_digest", [](Hello& hello) { hello.initial_digest[2] = 0xcc; }, "0303030303030303",
         "0303cc0303030303"},
        {"peer_name", [](Hello& hello) { hello.peer_name = "p9"; }, "peer", "p9"},
        {"peer_name", [](Hello& hello) { hello.peer_name = "p0"; }, "another peer", "p0"},
        {"to_peer_name", [](Hello& hello) { hello.to_peer_name = "p1"; }, "p0", "p1"},
        {"process_id", [](Hello& hello) { hello.process_id = 0; }, "not 0", "0"},
        {"process_id", [](Hello& hello) { hello.process_id = 1000; }, "another process", "my own"},
    };
    return all;
}

TEST_CASE("every field of Hello that differs is refused by name, and the refused one is told") {
    FakePeer a(make_settings(0));
    a.start();
    for (const Mutation& mutation : mutations()) {
        CAPTURE(mutation.field);
        Hello hello = good_hello(1, 0);
        mutation.mutate(hello);
        RawPeer raw(a.transport().port());
        REQUIRE(raw.send(Header{hello}));
        const auto answer = raw.read_frame();
        REQUIRE(answer.has_value());
        REQUIRE(std::holds_alternative<Reject>(*answer));
        const Reject& reject = std::get<Reject>(*answer);
        CHECK(reject.field == mutation.field);
        CHECK(reject.expected.find(mutation.expected) != std::string::npos);
        CHECK(reject.got == mutation.got);
        CHECK(a.wait([&] { return a.logged(reject_text(reject, true)); }));
        std::byte rest;
        CHECK_FALSE(raw.read({&rest, 1}));  // and then the stream ends
    }
    CHECK(a.seen().ups.empty());
    // An honest one is still let in.
    RawPeer raw(a.transport().port());
    CHECK(raw.shake_hands(good_hello(1, 0)));
    CHECK(a.wait([&] { return a.ups[1] == 1; }));
}

TEST_CASE("a peer that reads no Reject of ours is told the protocol by the number of a Hello") {
    FakePeer a(make_settings(0));
    a.start();
    Hello hello = good_hello(1, 0);
    hello.protocol = older_protocol;
    RawPeer raw(a.transport().port());
    REQUIRE(raw.send(Header{hello}));
    const auto answer = raw.read_frame();
    REQUIRE(answer.has_value());
    REQUIRE(std::holds_alternative<Hello>(*answer));
    Hello number;  // and nothing else of the run, which a stranger has no business to know
    CHECK(std::get<Hello>(*answer) == number);
    CHECK(a.wait([&] { return a.logged("another version of Ako"); }));
    std::byte rest;
    CHECK_FALSE(raw.read({&rest, 1}));
    CHECK(a.seen().ups.empty());
}

TEST_CASE("two transports that differ refuse each other, both naming field and values") {
    const std::vector<std::pair<const char*, std::function<void(TransportSettings&)>>> cases = {
        {"protocol: expected",
         [](auto& settings) { settings.hello.protocol = protocol_version + 1; }},
        {"run_name: expected", [](auto& settings) { settings.hello.run_name = "another"; }},
        {"training_digest: expected",
         [](auto& settings) { settings.hello.training_digest.fill(9); }},
        {"layout_digest: expected", [](auto& settings) { settings.hello.layout_digest.fill(9); }},
        {"initial_digest: expected", [](auto& settings) { settings.hello.initial_digest.fill(9); }},
        {"peer_name: expected", [](auto& settings) { settings.peers[1].name = "px"; }},
        {"process_id: expected", [](auto& settings) { settings.hello.process_id = 1000; }},
    };
    for (const auto& [text, change] : cases) {
        CAPTURE(text);
        auto settings = make_settings(1);
        change(settings);
        Pair pair(make_settings(0), settings);
        pair.a.start();
        pair.b.start();
        CHECK(pair.a.wait([&] { return pair.a.logged(text); }));
        CHECK(pair.b.wait([&] { return pair.b.logged(text); }));
        CHECK(pair.a.seen().ups.empty());
        CHECK(pair.b.seen().ups.empty());
        CHECK(pair.a.wait([&] { return !pair.a.transport().counters()[1].last_error.empty(); }));
        const std::string field = std::string(text).substr(0, std::string(text).find(':'));
        CAPTURE(field);
        // A process that says another name than the dialled one is a stranger; no peer is blamed.
        if (field == "peer_name") continue;
        CHECK(pair.a.wait([&] { return pair.a.transport().counters()[1].rejects[field] > 0; }));
    }
}

TEST_CASE("the answer to a dial is checked as well, and refused by name") {
    // A transport that dials a listener which answers with another peer's name.
    FakePeer liar(make_settings(1, 3));
    FakePeer a(make_settings(0, 3));
    a.transport().set_peer_address(2, liar.address());  // p2 lives where p1 listens
    a.start();
    liar.start();
    // The listener sees that it is not meant; the dialler hears so.
    CHECK(liar.wait([&] { return liar.logged("to_peer_name: expected p1, got p2"); }));
    CHECK(a.wait([&] { return a.logged("to_peer_name: expected p1, got p2"); }));
    CHECK(a.seen().ups.empty());
}

TEST_CASE("the host may refuse a process") {
    Pair pair;
    pair.a.no_admittance = Reject{"process_id", "the one that was here", std::string(999, 'x')};
    pair.a.start();
    pair.b.start();
    CHECK(pair.b.wait([&] { return pair.b.logged("expected the one that was here"); }));
    CHECK(pair.a.wait([&] { return pair.a.logged("expected the one that was here"); }));
    CHECK(pair.a.seen().ups.empty());
    pair.a.tell([&] { pair.a.no_admittance.reset(); });
    CHECK(pair.b.wait([&] { return pair.b.ups[0] == 1; }));
}

TEST_CASE("a stranger who says nothing is hung up on") {
    auto settings = make_settings(0);
    settings.handshake_timeout_ms = 100;
    FakePeer a(settings);
    a.start();
    RawPeer raw(a.transport().port());
    REQUIRE(raw.connected());
    std::byte nothing;
    CHECK_FALSE(raw.read({&nothing, 1}));
    CHECK(a.wait([&] { return a.logged("no Hello from"); }));
}

TEST_CASE("a listener that never answers does not keep the dialler for ever") {
    auto settings = make_settings(0);
    settings.handshake_timeout_ms = 100;
    FakePeer a(settings);
    FakePeer silent(make_settings(1));  // bound, so the kernel accepts; never started
    a.transport().set_peer_address(1, silent.address());
    a.start();
    CHECK(a.wait([&] { return a.logged("p1: no Hello from"); }));
}

TEST_CASE("connections without a Hello are limited in number") {
    auto settings = make_settings(0);
    settings.handshake_timeout_ms = 60'000;
    FakePeer a(settings);
    a.start();
    std::vector<std::unique_ptr<RawPeer>> crowd;
    for (int i = 0; i < 300; ++i) crowd.push_back(std::make_unique<RawPeer>(a.transport().port()));
    CHECK(a.wait([&] { return a.logged("too many connections without a Hello"); }));
    crowd.clear();
    // They leave, and there is room again as soon as `a` has noticed.
    bool stands = false;
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (!stands && std::chrono::steady_clock::now() < deadline) {
        RawPeer raw(a.transport().port());
        stands = raw.shake_hands(good_hello(1, 0)) && a.wait([&] { return a.ups[1] == 1; }, 1s);
    }
    CHECK(stands);
}

TEST_CASE("the listener answers, but takes no session that the dialler does not confirm") {
    FakePeer a(make_settings(0));
    a.start();
    {
        RawPeer raw(a.transport().port());
        REQUIRE(raw.send(Header{good_hello(1, 0)}));
        const auto answer = raw.read_frame();
        REQUIRE(answer.has_value());
        CHECK(std::get<Hello>(*answer).to_peer_name == "p1");
    }
    CHECK(a.wait([&] { return a.logged("handshake failed: closed by the peer"); }));
    CHECK(a.seen().ups.empty());
}

TEST_CASE("crossing dials settle on one session, that of the lower index") {
    for (int repetition = 0; repetition < 10; ++repetition) {
        const auto payload = test::pattern(1024);
        Pair pair;
        REQUIRE(pair.up());
        pair.a.send(1, Partial{}, payload);
        pair.b.send(0, Partial{}, payload);
        CHECK(pair.a.wait([&] { return pair.a.received.size() == 1; }));
        CHECK(pair.b.wait([&] { return pair.b.received.size() == 1; }));
        CHECK(pair.a.seen().downs.empty());
        CHECK(pair.b.seen().downs.empty());
        CHECK(pair.a.transport().counters()[1].sessions == 1);
        CHECK(pair.b.transport().counters()[0].sessions == 1);
    }
}

TEST_CASE("eight peers that all dial at once end with one session per pair") {
    constexpr std::size_t count = 8;
    std::vector<std::unique_ptr<FakePeer>> peers;
    for (PeerIndex i = 0; i < count; ++i)
        peers.push_back(std::make_unique<FakePeer>(make_settings(i, count)));
    for (PeerIndex i = 0; i < count; ++i)
        for (PeerIndex j = 0; j < count; ++j)
            if (i != j) peers[i]->transport().set_peer_address(j, peers[j]->address());
    for (auto& peer : peers) peer->start();
    for (auto& peer : peers) {
        CHECK(peer->wait([&] { return peer->ups.size() == count - 1; }));
        CHECK(peer->seen().downs.empty());
    }
}

TEST_CASE("an incoming dial of the higher index loses against a standing session of ours") {
    FakePeer a(make_settings(0));
    RawPeer first(a.transport().port());
    a.start();
    // The session stands, dialled by the higher index, so nothing of ours stands against it ...
    REQUIRE(first.shake_hands(good_hello(1, 0)));
    REQUIRE(a.wait([&] { return a.ups[1] == 1; }));
    // ... and the same process, dialling again, must think that session dead: it is replaced.
    RawPeer second(a.transport().port());
    REQUIRE(second.shake_hands(good_hello(1, 0)));
    CHECK(a.wait([&] { return a.ups[1] == 2; }));
    CHECK(a.seen().downs.size() == 1);
    CHECK(a.seen().downs[0].second.find("replaced") != std::string::npos);
    // Another process that claims the name is refused while the session lives.
    Hello impostor = good_hello(1, 0);
    impostor.process_id = 4242;
    RawPeer third(a.transport().port());
    REQUIRE(third.send(Header{impostor}));
    const auto answer = third.read_frame();
    REQUIRE(answer.has_value());
    REQUIRE(std::holds_alternative<Reject>(*answer));
    CHECK(std::get<Reject>(*answer).field == live_process_field);
    CHECK(a.seen().downs.size() == 1);

    // Where the lower index has dialled, a crossing dial is closed without a word.
    Pair pair;
    pair.a.start();
    pair.b.transport().set_peer_address(0, "127.0.0.1:1");  // so that only a dials
    pair.b.start();
    REQUIRE(pair.a.wait([&] { return pair.a.ups[1] == 1; }));
    RawPeer crossing(pair.a.transport().port());
    REQUIRE(crossing.send(Header{good_hello(1, 0)}));
    CHECK_FALSE(crossing.read_frame().has_value());
    CHECK(pair.a.seen().downs.empty());
}

}  // namespace
}  // namespace ako::handshake_test
