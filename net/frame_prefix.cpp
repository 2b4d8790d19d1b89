#include "net/frame_prefix.h"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "src/numbers/checksum.h"

namespace ako {
namespace {

constexpr std::array<std::uint8_t, 4> magic = {'A', 'K', 'O', '2'};

/// What the checksum of the prefix itself covers.
constexpr std::size_t checked_bytes = frame_prefix_bytes - sizeof(std::uint32_t);

void put(std::byte* out, std::size_t value) {
    for (int i = 0; i < 4; ++i) out[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
}

std::uint32_t get(const std::byte* in) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(in[i]) << (8 * i);
    return value;
}

Result<void> check(const char* part, std::uint32_t said, std::span<const std::byte> bytes) {
    const std::uint32_t found = crc32c(bytes);
    if (found == said) return {};
    return fail(
        Error::Kind::wire,
        fmt::format("damaged frame: its {} has CRC-32C {:08x} and says {:08x}", part, found, said));
}

/// A peer that speaks another framing is told so; no more can be said of anything else.
Result<void> check_letters(const std::byte* in) {
    if (std::memcmp(in, magic.data(), magic.size()) == 0) return {};
    const std::string letters(reinterpret_cast<const char*>(in), magic.size());
    if (letters.starts_with("AKO") && letters[3] >= '0' && letters[3] <= '9')
        return fail(Error::Kind::wire,
                    fmt::format("malformed frame: it begins with \"{}\" where this ako says "
                                "\"AKO2\": use the same version of ako on all peers",
                                letters));
    return fail(Error::Kind::wire, "malformed frame: it does not begin with \"AKO2\"");
}

}  // namespace

std::array<std::byte, frame_prefix_bytes> encode_prefix(const FramePrefix& prefix) {
    std::array<std::byte, frame_prefix_bytes> bytes;
    std::memcpy(bytes.data(), magic.data(), magic.size());
    put(bytes.data() + 4, prefix.header_bytes);
    put(bytes.data() + 8, prefix.payload_bytes);
    put(bytes.data() + 12, prefix.header_checksum);
    put(bytes.data() + checked_bytes, crc32c(std::span(bytes).first(checked_bytes)));
    return bytes;
}

Result<FramePrefix> decode_prefix(std::span<const std::byte, frame_prefix_bytes> bytes,
                                  std::size_t header_limit) {
    if (auto letters = check_letters(bytes.data()); !letters)
        return tl::make_unexpected(letters.error());
    if (auto intact =
            check("prefix", get(bytes.data() + checked_bytes), bytes.first(checked_bytes));
        !intact)
        return tl::make_unexpected(intact.error());
    const FramePrefix prefix{get(bytes.data() + 4), get(bytes.data() + 8), get(bytes.data() + 12)};
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
    if (!elements_in(prefix.payload_bytes))
        return fail(Error::Kind::wire,
                    fmt::format("malformed frame: a payload of {} bytes", prefix.payload_bytes));
    return prefix;
}

Result<void> check_header(const FramePrefix& prefix, std::span<const std::byte> header) {
    return check("header", prefix.header_checksum, header);
}

}  // namespace ako
