// The fixed prefix of every frame, and the limits of what it announces.
//
//   offset  bytes  content, little-endian
//   0       4      the letters "AKO1"
//   4       4      header bytes: the Cap'n Proto message that follows, a multiple of 8
//   8       4      payload bytes: raw float32 values after the header, a multiple of 4
//
// Pure functions, any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ako/blocks.h"
#include "ako/error.h"

namespace ako {

inline constexpr std::size_t frame_prefix_bytes = 12;

/// Runs of versions in one Want or CutRow: a row of 32,768 blocks (134 million parameters) fits
/// even if no two neighbours are of the same version.
inline constexpr std::size_t version_runs_max = block_count_max;

/// Checksums of one Partial: a full payload in the smallest blocks that tests use, 4 floats.
inline constexpr std::size_t checksums_max = payload_bytes_limit / (4 * sizeof(float));

/// Bytes of one text of a header (a run's or a peer's name, a value in a Reject).
inline constexpr std::size_t text_bytes_max = 256;

/// What the largest header needs:
///     24 bytes * 32,768 runs of Want      786,432   (CutRow: 16 bytes each, 524,288)
///      4 bytes * 65,536 checksums         262,144   (Partial, instead of the runs)
///     56 bytes * 64 peers                   3,584   (Status: 16 of progress, 40 of rows)
///    256 bytes * 3 texts, 32 * 5 digests      928   (Hello, Reject)
///     framing, fixed fields and pointers    < 512
/// and the largest of these fits into 1 MiB. Anything longer is refused before memory is allocated.
inline constexpr std::size_t header_bytes_max = std::size_t{1} << 20;
static_assert(24 * version_runs_max + 512 <= header_bytes_max);
static_assert(4 * checksums_max + 512 <= header_bytes_max);

/// What the first header of a stranger may need: Hello with three texts and five digests.
inline constexpr std::size_t handshake_header_bytes_max = 4096;

/// The sizes that a prefix announces.
struct FramePrefix {
    std::size_t header_bytes = 0;
    std::size_t payload_bytes = 0;

    bool operator==(const FramePrefix&) const = default;
};

std::array<std::byte, frame_prefix_bytes> encode_prefix(const FramePrefix& prefix);

/// Error::Kind::wire if the letters are wrong or a size is over its limit (that of the header is
/// `header_limit`), zero where it must not be, or not a multiple of its unit.
Result<FramePrefix> decode_prefix(std::span<const std::byte, frame_prefix_bytes> bytes,
                                  std::size_t header_limit = header_bytes_max);

}  // namespace ako
