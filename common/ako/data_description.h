// What a peer says of its data when it connects, so that peers with different data notice it: how
// much there is, checksums of it in pieces, and the first labels. Values; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ako/bounds.h"
#include "ako/types.h"

namespace ako {

/// Runs of items that have checksums of their own, so that a difference can be placed.
inline constexpr std::size_t data_pieces_max = 64;

/// Labels that are told one by one, from the first item on.
inline constexpr std::size_t labels_told_max = 64;

/// Bytes of what a program says of its data.
inline constexpr std::size_t data_digest_bytes_max = 64;

/// Pieces of so many items; and labels that are told of them.
constexpr std::size_t data_pieces(std::uint64_t count) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(count, data_pieces_max));
}
constexpr std::size_t labels_told(std::uint64_t count) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(count, labels_told_max));
}

/// The items of one piece of them all: [first, end).
struct DataPiece {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
};
constexpr DataPiece data_piece(std::uint64_t count, std::size_t piece) {
    const std::uint64_t pieces = std::max<std::size_t>(1, data_pieces(count));
    const auto begin = [&](std::uint64_t k) {
        return count / pieces * k + count % pieces * k / pieces;  // no product beyond 64 bits
    };
    return {begin(piece), begin(piece + 1)};
}

/// One set of labelled images, in its order.
struct DataPartDescription {
    std::uint64_t count = 0;                 ///< items; 0: there is no such set
    std::vector<std::uint8_t> first_labels;  ///< [labels_told(count)], or empty = not said
    std::vector<std::uint32_t> labels;       ///< CRC-32C [data_pieces(count)], or empty = not said
    std::vector<std::uint32_t> images;       ///< the same, as they were read

    bool operator==(const DataPartDescription&) const = default;

    static void fields(auto& it, auto&& each) {
        each("count", it.count);
        each("first_labels", it.first_labels, bound::AllOrNone{labels_told(it.count)});
        each("labels", it.labels, bound::AllOrNone{data_pieces(it.count)});
        each("images", it.images, bound::AllOrNone{data_pieces(it.count)});
    }
};

struct DataDescription {
    DataPartDescription train;
    DataPartDescription test;
    std::string digest;  ///< what a program says of its data, on one line; empty = not said

    bool operator==(const DataDescription&) const = default;

    static void fields(auto& it, auto&& each) {
        each("train", it.train);
        each("test", it.test);
        each("digest", it.digest, bound::Line{data_digest_bytes_max});
    }
};

}  // namespace ako
