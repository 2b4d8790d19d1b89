// How elements of the flat vector lie in the payload of a frame: raw float32 values, little-endian.
// Everything that sends elements or reads what came goes through here; what a mode holds in memory
// is another matter. The mode ako may say of a Partial that it is coded (src/rows/coded_blocks.h).
#pragma once

#include <bit>
#include <cstddef>
#include <optional>
#include <span>

namespace ako {

static_assert(std::endian::native == std::endian::little, "payloads travel as they lie in memory");

/// The largest payload of one frame: 64 blocks. Constant: at 10 Gbit/s it is 0.8 ms.
inline constexpr std::size_t payload_bytes_limit = std::size_t{1} << 20;

/// Size of the payload that carries so many elements.
constexpr std::size_t payload_bytes_of(std::size_t elements) { return elements * sizeof(float); }

/// The elements in a payload of so many bytes; nothing if that is no whole number of them.
constexpr std::optional<std::size_t> elements_in(std::size_t bytes) {
    if (bytes % sizeof(float) != 0) return std::nullopt;
    return bytes / sizeof(float);
}

/// The most elements for which so many bytes are enough.
constexpr std::size_t elements_within(std::size_t bytes) { return bytes / sizeof(float); }

/// What is sent for these elements, from where they lie.
inline std::span<const std::byte> payload_of(std::span<const float> elements) {
    return std::as_bytes(elements);
}

/// Where the payload of these elements is read into, so that they lie there afterwards.
inline std::span<std::byte> payload_into(std::span<float> elements) {
    return std::as_writable_bytes(elements);
}

}  // namespace ako
