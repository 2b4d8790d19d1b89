// The fixed prefix of every frame, and the limits of what it announces.
//
//   offset  bytes  content, little-endian
//   0       4      the letters "AKO2"; the digit tells framings apart
//   4       4      header bytes: what net/codec.h writes, a multiple of 8
//   8       4      payload bytes: what follows the header, a multiple of 4
//   12      4      CRC-32C of the header
//   16      4      CRC-32C of the 16 bytes before
//
// The prefix has a checksum of its own because its sizes are acted upon first: one flipped bit in
// them would have the reader take the next megabyte of frames for a header, and find out minutes
// later on a quiet link. Payloads are covered by what their headers say: Partial by a checksum per
// block, Chunk by one of its own.
//
// Pure functions, any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ako/error.h"
#include "ako/payload.h"

namespace ako {

inline constexpr std::size_t frame_prefix_bytes = 20;

/// What the length of a header is a multiple of.
inline constexpr std::size_t header_unit_bytes = 8;

/// What the largest header needs, 24 bytes * 32,768 runs of a Want, and some more; the test of the
/// codec fills every list of every message to its bound. Anything longer is refused before memory
/// is allocated.
inline constexpr std::size_t header_bytes_max = std::size_t{1} << 20;

/// What the first header of a stranger may need: Hello with three texts, five digests, the settings
/// and the data.
inline constexpr std::size_t handshake_header_bytes_max = 6144;

/// What a prefix announces.
struct FramePrefix {
    std::size_t header_bytes = 0;
    std::size_t payload_bytes = 0;
    std::uint32_t header_checksum = 0;  ///< CRC-32C

    bool operator==(const FramePrefix&) const = default;
};

std::array<std::byte, frame_prefix_bytes> encode_prefix(const FramePrefix& prefix);

/// Error::Kind::wire if the letters are wrong, the prefix was damaged on the way, or a size is over
/// its limit (that of the header is `header_limit`), zero where it must not be, or not a multiple
/// of its unit.
Result<FramePrefix> decode_prefix(std::span<const std::byte, frame_prefix_bytes> bytes,
                                  std::size_t header_limit = header_bytes_max);

/// Error::Kind::wire if these bytes, the header, are not those that the prefix was made for.
Result<void> check_header(const FramePrefix& prefix, std::span<const std::byte> header);

}  // namespace ako
