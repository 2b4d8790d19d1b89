// The words of Ako: the small value types that every part shares. See "Words" in src/README.md.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace ako {

/// A peer by its place in the cluster file, 0 .. peer_count - 1.
using PeerIndex = std::uint32_t;

/// One mini-batch step of one peer, counted per peer from 1; 0 means "before the first".
using Round = std::uint64_t;

/// A block by its place in the flat parameter vector.
using BlockIndex = std::uint32_t;

/// A moment: nanoseconds since an arbitrary origin of one machine's monotonic clock. Moments of two
/// machines cannot be compared, and a peer does not know on which machine another one is;
/// `src/exchange/clock_offset.h` translates.
using Time = std::chrono::nanoseconds;

/// Rounded down, as people are told of it.
inline long long whole_ms(Time time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

constexpr double seconds_of(Time time) { return std::chrono::duration<double>(time).count(); }
constexpr Time from_seconds(double seconds) {
    return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

/// Upper bound on the peers of one cluster file. All-to-all exchange costs n(n-1) links, so more
/// than this wants another topology; it also lets a set of peers be one 64-bit word.
inline constexpr std::size_t peers_max = 64;

/// A set of peers, bit j for peer j.
using PeerSet = std::uint64_t;

constexpr PeerSet peer_bit(PeerIndex peer) { return PeerSet{1} << peer; }

/// One life of the owner of a row; 0 = none. What it is made of: src/exchange/incarnation.h.
using Incarnation = std::uint64_t;

/// The version of a block of a row: which life of its owner, and which of its rounds, it is from.
struct Version {
    Incarnation incarnation = 0;
    Round round = 0;

    auto operator<=>(const Version&) const = default;

    static void fields(auto& it, auto&& each) {
        each("incarnation", it.incarnation);
        each("round", it.round);
    }
};

/// Which checkpoint of a peer: see checkpoint.h.
struct CheckpointId {
    std::uint64_t start = 0;  ///< another one each time that the run begins or is resumed
    Round round = 0;          ///< the peer's newest that is in it

    auto operator<=>(const CheckpointId&) const = default;

    static void fields(auto& it, auto&& each) {
        each("start", it.start);
        each("round", it.round);
    }
};

/// A run of elements of the flat parameter vector: [first, first + count).
struct Range {
    std::size_t first = 0;
    std::size_t count = 0;

    bool operator==(const Range&) const = default;
};

/// The part of `range` that the `index`-th of `count` equal parts is; sizes differ by at most one.
constexpr Range part_of(Range range, std::size_t index, std::size_t count) {
    const std::size_t first = range.count * index / count;
    return {range.first + first, range.count * (index + 1) / count - first};
}

/// The extents of the activations of one image, or of the image itself.
struct Shape {
    std::size_t height = 1;
    std::size_t width = 1;
    std::size_t channels = 1;

    std::size_t element_count() const { return height * width * channels; }
    bool operator==(const Shape&) const = default;
};

/// A run of blocks: [first, first + count).
struct BlockRun {
    BlockIndex first = 0;
    BlockIndex count = 0;

    bool operator==(const BlockRun&) const = default;

    static void fields(auto& it, auto&& each) {
        each("first", it.first);
        each("count", it.count);
    }
};

}  // namespace ako
