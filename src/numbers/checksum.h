// CRC-32C, the checksum of whatever travels: of a block (made once by its owner, checked by
// everyone who takes it), of a frame's prefix and header, and of a chunk. TCP's own checksum has 16
// bits and is made anew by every machine on the way, so what a bad memory or a bad switch changed
// passes it (Stone and Partridge, "When the CRC and TCP checksum disagree", 2000).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ako {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4) of some bytes. With the processor's instruction
/// where there is one, else by table; the same value either way. `before`: that of what goes
/// before them, to take something piece by piece. Any thread.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

inline std::uint32_t crc32c(std::span<const float> values) { return crc32c(std::as_bytes(values)); }

namespace detail {
/// The way without the instruction, for its test.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before = 0);
}  // namespace detail

}  // namespace ako
