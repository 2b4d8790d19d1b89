// The fixed prefix of every frame, and the limits of what it announces.
//
//   offset  bytes  content, little-endian
//   0       4      the letters "AKO2"; the digit tells framings apart
//   4       4      header bytes: the Cap'n Proto message that follows, a multiple of 8
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

#include "ako/blocks.h"
#include "ako/error.h"
#include "ako/payload.h"
#include "ako/portions.h"

namespace ako {

inline constexpr std::size_t frame_prefix_bytes = 20;

/// Runs of versions in one Want, CutRow or Versions: a row of 32,768 blocks (134 million
/// parameters) fits even if no two neighbours are of the same version.
inline constexpr std::size_t version_runs_max = block_count_max;

/// Checksums of one Partial: a full payload in the smallest blocks that tests use, 4 floats.
inline constexpr std::size_t checksums_max = elements_within(payload_bytes_limit) / 4;

/// Runs of buckets in one Membership: of a row of neighbours no two need have a sum of the same
/// sync, and a bucket has 64 KiB or more, so these are 2 GiB of parameters at the least.
inline constexpr std::size_t sync_runs_max = 32'768;

/// Of 64 portions each, of one pass over the data in a Status.
inline constexpr std::size_t covered_words_max = portions_max / 64;

/// Bytes of one text of a header (a run's or a peer's name, a value in a Reject).
inline constexpr std::size_t text_bytes_max = 256;

/// Bytes of the settings in a Hello: keys and values of a cluster of some peers, or a list of some
/// layers. Whoever has more says their digest alone.
inline constexpr std::size_t settings_text_bytes_max = 2560;

/// What the largest header needs:
///     24 bytes * 32,768 runs              786,432   (Want, CutRow, Versions)
///     16 bytes * 32,768 runs              524,288   (Membership, and 8 * 3 * 64 of processes)
///      4 bytes * 65,536 checksums         262,144   (Partial, instead of the runs)
///     56 bytes * 64 peers                   3,584   (Status: 16 of progress, 40 of rows; and 128
///                                                   of what is covered)
///    256 bytes * 3 texts, 32 * 5 digests      928   (Hello, Reject)
///     framing, fixed fields and pointers    < 512
/// and the largest of these fits into 1 MiB. Anything longer is refused before memory is allocated.
inline constexpr std::size_t header_bytes_max = std::size_t{1} << 20;
static_assert(24 * version_runs_max + 512 <= header_bytes_max);
static_assert(16 * sync_runs_max + 8 * 3 * peers_max + 512 <= header_bytes_max);
static_assert(4 * checksums_max + 512 <= header_bytes_max);

/// What the first header of a stranger may need: Hello with three texts, five digests and the
/// settings.
inline constexpr std::size_t handshake_header_bytes_max = 4096;
static_assert(3 * text_bytes_max + 5 * 32 + settings_text_bytes_max + 512 <=
              handshake_header_bytes_max);

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
