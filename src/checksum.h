// CRC-32C, the checksum of one block: made once by the block's owner, checked by everyone who takes
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ako {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4) of some bytes. With the processor's instruction
/// where there is one, else by table; the same value either way. Any thread.
std::uint32_t crc32c(std::span<const std::byte> bytes);

inline std::uint32_t crc32c(std::span<const float> values) { return crc32c(std::as_bytes(values)); }

namespace detail {
/// The way without the instruction, for its test.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes);
}  // namespace detail

}  // namespace ako
