// Bytes on their way: whole, without a copy, held back by a slow reader, drained at the end.
#include <doctest/doctest.h>

#include "ako/blocks.h"
#include "tests/net/fake_peer.h"

namespace ako::transfer_test {

namespace {

using namespace std::chrono_literals;
using test::make_settings;
using test::Pair;
using test::pattern;

TEST_CASE("payloads of all sizes arrive as they were, read into the memory of the host") {
    std::vector<std::vector<std::byte>> payloads;
    for (const std::size_t bytes : {0, 4, 16 * 1024, 1024 * 1024, 4, 0, 1024 * 1024 - 4})
        payloads.push_back(pattern(bytes, static_cast<unsigned>(bytes)));
    Pair pair;
    REQUIRE(pair.up());
    Round round = 0;
    for (const auto& payload : payloads) {
        pair.a.send(1, Partial{0, {0, ++round}, {0, 1}, Time{1}, false, {7}}, payload);
        pair.b.send(0, Partial{1, {0, round}, {0, 1}, Time{1}, false, {7}}, payload);
    }
    for (auto* peer : {&pair.a, &pair.b}) {
        REQUIRE(peer->wait([&] { return peer->received.size() == payloads.size(); }));
        const test::Seen seen = peer->seen();
        for (std::size_t i = 0; i < payloads.size(); ++i) {
            CHECK(std::get<Partial>(seen.received[i].header).version.round == i + 1);
            CHECK(seen.received[i].payload == payloads[i]);
            CHECK(seen.received[i].memory == seen.received[i].reserved);
        }
        CHECK(peer->seen().buffers_held == 0);
        // Each buffer is let go of once its frame is sent.
        CHECK(peer->wait([&] { return peer->released == static_cast<int>(payloads.size()); }));
        CHECK(peer->seen().abandoned_count == 0);
    }
}

TEST_CASE("counters count whole frames") {
    const auto payload = pattern(100'000);
    Pair pair;
    REQUIRE(pair.up());
    const auto before = pair.b.transport().counters()[0].ingress_bytes;
    CHECK(before > 0);  // the handshake
    pair.a.send(1, Bye{3}, payload);
    REQUIRE(pair.b.wait([&] { return pair.b.received.size() == 1; }));
    const auto after = pair.b.transport().counters()[0].ingress_bytes;
    CHECK(after - before > payload.size());
    CHECK(after - before < payload.size() + 200);
    CHECK(pair.a.wait([&] { return pair.a.transport().counters()[1].egress_bytes == after; }));
}

/// Frames of 1 MiB that are more than all buffers on the way hold.
constexpr int stuck_frames = 32;

/// Sends them to a peer that has no room, so that one is stuck half sent. Returns once the sender
/// stands still.
void stick(Pair& pair, std::span<const std::byte> payload) {
    pair.b.has_room = false;
    REQUIRE(pair.up());
    for (int i = 0; i < stuck_frames; ++i) pair.a.send(1, Partial{}, payload);
    REQUIRE(pair.b.wait([&] { return pair.b.refused_room > 0; }));
    const auto given = [&] {
        int count = 0;
        pair.a.tell([&] { count = pair.a.given; });
        return count;
    };
    // It stands still when it has asked for nothing new over 30 ticks.
    for (int before = given() - 1; before != given();) {
        before = given();
        int polls = 0;
        pair.a.tell([&] { polls = pair.a.polls; });
        REQUIRE(pair.a.wait([&] { return pair.a.polls >= polls + 30; }));
    }
    REQUIRE(given() < stuck_frames);
    REQUIRE(pair.a.wait([&] { return pair.a.released == pair.a.given - 1; }));
}

/// Gives the peer that stick() has filled room again.
void unstick(Pair& pair) {
    pair.b.tell([&] { pair.b.has_room = true; });
    pair.b.run([&] { pair.b.transport().resume(0); });
}

TEST_CASE("a host without room stops the sender, whose life goes on, and lets it go on") {
    auto quick = make_settings(1);
    quick.life_timeout_ms = 200;
    const auto payload = pattern(payload_bytes_limit);
    Pair pair(make_settings(0), quick);
    stick(pair, payload);
    // The receiver has not read for longer than the life time-out, and takes that for no silence.
    CHECK(pair.a.seen().downs.empty());
    CHECK(pair.b.seen().downs.empty());
    unstick(pair);
    REQUIRE(pair.b.wait([&] { return pair.b.received.size() == stuck_frames; }));
    const test::Seen seen = pair.b.seen();
    for (const test::Received& received : seen.received) CHECK(received.payload == payload);
}

TEST_CASE("copy_aside lets go of the buffer, and the bytes arrive as they were") {
    auto payload = pattern(payload_bytes_limit);
    const auto original = payload;
    Pair pair;
    stick(pair, payload);
    const std::size_t given = pair.a.forget_outbox();
    pair.a.run([&] {
        pair.a.transport().copy_aside(1);
        pair.a.transport().copy_aside(1);  // nothing left to copy
        std::fill(payload.begin(), payload.end(), std::byte{0});
    });
    CHECK(pair.a.wait([&] { return static_cast<std::size_t>(pair.a.released) == given; }));
    CHECK(pair.a.transport().counters()[1].copies_aside == 1);
    unstick(pair);
    REQUIRE(pair.b.wait([&] { return pair.b.received.size() == given; }));
    const test::Seen seen = pair.b.seen();
    for (const test::Received& received : seen.received) CHECK(received.payload == original);
}

TEST_CASE("the payload is sent from the host's memory, without a copy") {
    auto payload = pattern(payload_bytes_limit);
    Pair pair;
    stick(pair, payload);
    const std::size_t given = pair.a.forget_outbox();
    // The end of the frame that is half sent changes now; had anybody copied it, the old byte
    // would arrive.
    const std::byte changed = payload.back() ^ std::byte{0xff};
    bool done = false;
    pair.a.run([&] {
        payload.back() = changed;
        pair.a.tell([&] { done = true; });
    });
    REQUIRE(pair.a.wait([&] { return done; }));
    unstick(pair);
    REQUIRE(pair.b.wait([&] { return pair.b.received.size() == given; }));
    CHECK(pair.b.seen().received.back().payload.back() == changed);
}

TEST_CASE("a link asks again only when it is woken, and then at once") {
    Pair pair;
    REQUIRE(pair.up());
    REQUIRE(pair.a.wait([&] { return pair.a.asked > 0; }));
    pair.a.tell([&] { pair.a.ask_again = false; });
    pair.a.send(1, Bye{1});
    int polls = 0;
    pair.a.tell([&] { polls = pair.a.polls; });
    REQUIRE(pair.a.wait([&] { return pair.a.polls > polls + 5; }));
    CHECK(pair.b.seen().received.empty());
    pair.a.run([&] { pair.a.transport().wake(1); });
    CHECK(pair.b.wait([&] { return pair.b.received.size() == 1; }));
}

TEST_CASE("poll is called at least every 20 ms") {
    Pair pair;
    REQUIRE(pair.up());
    const Time began = pair.a.now();
    int polls = 0;
    pair.a.tell([&] { polls = pair.a.polls; });
    REQUIRE(pair.a.wait([&] { return pair.a.polls >= polls + 50; }));
    // 50 ticks of 10 ms, with much to spare for a busy machine.
    CHECK(pair.a.now() - began < 5s);
}

TEST_CASE("stop sends what there is, and the last bytes arrive") {
    const auto payload = pattern(payload_bytes_limit);
    auto pair = std::make_unique<Pair>();
    REQUIRE(pair->up());
    for (int i = 0; i < 20; ++i) pair->a.send(1, Partial{}, payload);
    pair->a.send(1, Bye{9});
    pair->a.transport().stop(pair->a.now() + 10s);
    // All that stop() returned for is on its way; b hears the Bye, the end, and no loss.
    REQUIRE(pair->b.wait([&] { return pair->b.downs.size() == 1; }));
    CHECK(pair->b.seen().received.size() == 21);
    CHECK(std::holds_alternative<Bye>(pair->b.seen().received.back().header));
    CHECK(pair->b.seen().downs[0].second == "it left");
    CHECK(pair->a.seen().downs.size() == 1);
    CHECK_FALSE(pair->a.transport().counters()[1].up);
}

TEST_CASE("stop ends at its deadline when the other end takes nothing") {
    const auto payload = pattern(payload_bytes_limit);
    Pair pair;
    stick(pair, payload);
    const Time began = pair.a.now();
    pair.a.transport().stop(began + 300ms);
    const Time took = pair.a.now() - began;
    CHECK(took >= 300ms);
    CHECK(took < 5s);
    CHECK(pair.a.seen().downs.size() == 1);
}

}  // namespace
}  // namespace ako::transfer_test
