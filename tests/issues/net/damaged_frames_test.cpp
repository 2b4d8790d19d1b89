// One bit that flipped on the way past TCP's checksum was believed. In a header it made every later
// update of some blocks "late", or ended the run as finished; in a ring's chunk it was added up,
// and the peers ended with different parameters, all with exit status 0. Since protocol 4 the
// prefix, the header and the values of a chunk have a CRC-32C each: the session ends with that as
// its reason before anything of the frame has an effect.
#include <doctest/doctest.h>

#include "tests/contains.h"
#include "tests/net/fake_peer.h"
#include "tests/net/raw_peer.h"

namespace ako::damaged_frames_test {

namespace {

using test::contains;
using test::FakePeer;
using test::make_settings;
using test::Pair;
using test::pattern;
using test::RawPeer;

/// Sends these bytes in a session of its own; the reason why that ended.
std::string reason_after(FakePeer& peer, const std::vector<std::byte>& bytes) {
    Hello hello = make_settings(1).hello;
    hello.to_peer_name = "p0";
    const int ups = peer.seen().ups[1];
    const std::size_t downs = peer.seen().downs.size();
    RawPeer raw(peer.transport().port());
    REQUIRE(raw.shake_hands(hello));
    REQUIRE(peer.wait([&] { return peer.ups[1] == ups + 1; }));
    REQUIRE(raw.send(bytes));
    REQUIRE(peer.wait([&] { return peer.downs.size() == downs + 1; }));
    return peer.seen().downs.back().second;
}

std::vector<std::byte> flipped(std::vector<std::byte> bytes, std::size_t at, unsigned bit) {
    bytes[at] ^= static_cast<std::byte>(1U << bit);
    return bytes;
}

/// What a link writes for this chunk: the one place where its checksum is made is the session.
std::vector<std::byte> chunk_frame(const std::vector<std::byte>& payload) {
    Pair pair;
    REQUIRE(pair.up());
    pair.a.send(1, Chunk{.sync = 1, .first = 8}, payload);
    REQUIRE(pair.b.wait([&] { return pair.b.received.size() == 1; }));
    const test::Received arrived = pair.b.seen().received[0];
    CHECK(arrived.payload == payload);
    std::vector<std::byte> frame = encode_frame_head(arrived.header, payload.size());
    frame.insert(frame.end(), payload.begin(), payload.end());
    return frame;
}

TEST_CASE("no bit of a prefix or a header can flip unseen") {
    FakePeer a(make_settings(0));
    a.start();
    Partial partial;
    partial.version = {1, 77};
    partial.run = {0, 1};
    const auto head = encode_frame_head(partial, 0);
    for (std::size_t at = 0; at < head.size(); ++at) {
        INFO(at);
        const std::string why = reason_after(a, flipped(head, at, at % 8));
        // The letters are looked at first, for somebody who speaks another protocol.
        CHECK(contains(why, at < 4 ? "malformed frame" : "damaged frame"));
    }
    CHECK(a.seen().received.empty());
    CHECK(a.seen().buffers_held == 0);
}

TEST_CASE("a chunk whose values changed on the way has no effect") {
    const auto payload = pattern(4096);
    const auto frame = chunk_frame(payload);
    FakePeer a(make_settings(0));
    a.start();
    int sessions = 0;
    for (const std::size_t at : {std::size_t{0}, payload.size() / 2, payload.size() - 1}) {
        const auto damaged = flipped(frame, frame.size() - payload.size() + at, at % 8);
        CHECK(contains(reason_after(a, damaged), "a chunk was damaged on the way"));
        CHECK(a.seen().abandoned_count == ++sessions);
    }
    CHECK(a.seen().received.empty());
    CHECK(a.seen().buffers_held == 0);
}

}  // namespace
}  // namespace ako::damaged_frames_test
