#include "net/frame_prefix.h"

#include <fmt/format.h>

#include <cstring>

namespace ako {
namespace {

constexpr std::array<std::uint8_t, 4> magic = {'A', 'K', 'O', '1'};

/// Cap'n Proto counts in words.
constexpr std::size_t header_unit_bytes = 8;

void put(std::byte* out, std::size_t value) {
    for (int i = 0; i < 4; ++i) out[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
}

std::size_t get(const std::byte* in) {
    std::size_t value = 0;
    for (int i = 0; i < 4; ++i) value |= std::to_integer<std::size_t>(in[i]) << (8 * i);
    return value;
}

}  // namespace

std::array<std::byte, frame_prefix_bytes> encode_prefix(const FramePrefix& prefix) {
    std::array<std::byte, frame_prefix_bytes> bytes;
    std::memcpy(bytes.data(), magic.data(), magic.size());
    put(bytes.data() + 4, prefix.header_bytes);
    put(bytes.data() + 8, prefix.payload_bytes);
    return bytes;
}

Result<FramePrefix> decode_prefix(std::span<const std::byte, frame_prefix_bytes> bytes,
                                  std::size_t header_limit) {
    if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
        return fail(Error::Kind::wire, "malformed frame: it does not begin with \"AKO1\"");
    const FramePrefix prefix{get(bytes.data() + 4), get(bytes.data() + 8)};
    if (prefix.header_bytes > header_limit)
        return fail(Error::Kind::wire,
                    fmt::format("oversized frame: a header of {} bytes, limit {}",
                                prefix.header_bytes, header_limit));
    if (prefix.header_bytes == 0 || prefix.header_bytes % header_unit_bytes != 0)
        return fail(Error::Kind::wire,
                    fmt::format("malformed frame: a header of {} bytes", prefix.header_bytes));
    if (prefix.payload_bytes > payload_bytes_limit)
        return fail(Error::Kind::wire,
                    fmt::format("oversized frame: a payload of {} bytes, limit {}",
                                prefix.payload_bytes, payload_bytes_limit));
    if (prefix.payload_bytes % sizeof(float) != 0)
        return fail(Error::Kind::wire,
                    fmt::format("malformed frame: a payload of {} bytes", prefix.payload_bytes));
    return prefix;
}

}  // namespace ako
