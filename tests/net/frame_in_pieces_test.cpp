// A frame that is written in pieces of any size and read in pieces of any other: what arrives is
// what was given, whenever the rest was copied aside; and what was changed on the way is found.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "net/frame_prefix.h"
#include "net/incoming_frame.h"
#include "net/outgoing_frame.h"

namespace ako::frame_in_pieces_test {

namespace {

std::vector<std::byte> values(std::size_t bytes) {
    std::vector<std::byte> values(bytes);
    for (std::size_t k = 0; k < bytes; ++k) values[k] = static_cast<std::byte>(k % 251);
    return values;
}

/// All bytes of a frame, written in pieces of random sizes; copied aside before piece `copied_at`.
std::vector<std::byte> written(OutgoingFrame& frame, std::mt19937& random, int copied_at = -1) {
    std::vector<std::byte> wire;
    for (int piece_number = 0; !frame.all_written(); ++piece_number) {
        if (piece_number == copied_at) frame.copy_aside();
        const OutgoingFrame::Piece piece = frame.next_piece(1 + random() % 97);
        const std::size_t all = piece.head.size() + piece.payload.size();
        const std::size_t taken = 1 + random() % all;  // as a socket that has not room for all
        wire.insert(wire.end(), piece.head.begin(), piece.head.end());
        wire.insert(wire.end(), piece.payload.begin(), piece.payload.end());
        wire.resize(wire.size() - (all - taken));
        frame.written(taken);
    }
    return wire;
}

/// Reads one frame from `wire` into `memory`; the error, if it is refused.
Result<Header> read(IncomingFrame& frame, std::span<const std::byte> wire,
                    std::vector<std::byte>& memory, std::mt19937& random) {
    while (true) {
        if (frame.seeks_place()) {
            memory.resize(frame.payload_bytes());
            frame.place({memory, 7});
        } else if (frame.unread().empty()) {
            const auto stage = frame.complete_stage();
            if (!stage) return tl::make_unexpected(stage.error());
            if (*stage != IncomingFrame::Stage::payload) continue;
            IncomingFrame::Whole whole = frame.take();
            CHECK(whole.destination.ticket == 7);
            CHECK(wire.empty());
            return whole.header;
        } else {
            const std::size_t count = std::min(
                {frame.unread().size(), wire.size(), static_cast<std::size_t>(1 + random() % 61)});
            REQUIRE(count > 0);
            std::copy_n(wire.begin(), count, frame.unread().begin());
            frame.filled(count);
            wire = wire.subspan(count);
        }
    }
}

}  // namespace

TEST_CASE("a frame in pieces arrives as it was given, and lets go of its buffer once") {
    std::mt19937 random(1);
    IncomingFrame incoming;
    for (int round = 0; round < 200; ++round) {
        CAPTURE(round);
        auto payload = values(4 * (random() % 200));
        const auto given = payload;
        int released = 0;
        OutgoingFrame frame({Partial{}, payload, BufferRef([&] {
                                 ++released;
                                 std::fill(payload.begin(), payload.end(), std::byte{255});
                             })},
                            true);
        std::vector<std::byte> memory;
        const std::size_t bytes = frame.bytes();
        const auto wire = written(frame, random, static_cast<int>(random() % 4));
        CHECK(wire.size() == bytes);
        const auto header = read(incoming, wire, memory, random);
        REQUIRE(header);
        CHECK(std::holds_alternative<Partial>(*header));
        CHECK(memory == given);
        CHECK(released <= 1);
    }
}

TEST_CASE("nothing is copied aside twice, nor when nothing is left") {
    const auto payload = values(64);
    OutgoingFrame frame({Partial{}, payload, {}}, true);
    CHECK(frame.copy_aside());
    CHECK_FALSE(frame.copy_aside());
    OutgoingFrame empty({Status{}, {}, {}}, true);
    CHECK_FALSE(empty.copy_aside());
}

TEST_CASE("one bit that is changed in a chunk is found wherever it lies") {
    std::mt19937 random(2);
    const auto payload = values(64);
    OutgoingFrame frame({Chunk{}, payload, {}}, true);
    const auto wire = written(frame, random);
    for (std::size_t at = 0; at < wire.size(); ++at) {
        CAPTURE(at);
        auto changed = wire;
        changed[at] ^= std::byte{4};
        IncomingFrame incoming;
        std::vector<std::byte> memory;
        CHECK_FALSE(read(incoming, changed, memory, random));
    }
    IncomingFrame incoming;
    std::vector<std::byte> memory;
    CHECK(read(incoming, wire, memory, random));
}

TEST_CASE("a header that is too long for a stranger is taken from a peer") {
    std::mt19937 random(3);
    Want want;
    want.runs.resize(1000);
    OutgoingFrame frame({want, {}, {}}, true);
    const auto wire = written(frame, random);
    REQUIRE(wire.size() > handshake_header_bytes_max);
    std::vector<std::byte> memory;
    IncomingFrame stranger;
    CHECK_FALSE(read(stranger, wire, memory, random));
    IncomingFrame peer;
    peer.set_header_limit(header_bytes_max);
    CHECK(read(peer, wire, memory, random));
}

}  // namespace ako::frame_in_pieces_test
