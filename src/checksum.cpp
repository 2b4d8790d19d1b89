// CRC-32C: by the SSE4.2 instruction, eight bytes at a time, or by a table of 256 entries.
#include "src/checksum.h"

#include <array>
#include <cstring>

namespace ako {
namespace {

constexpr std::uint32_t polynomial_reflected = 0x82F63B78u;

constexpr std::array<std::uint32_t, 256> make_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1u) ? polynomial_reflected : 0u);
        table[byte] = crc;
    }
    return table;
}

constexpr auto table = make_table();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes) {
    std::uint64_t crc = 0xFFFFFFFFu;
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; at += 8, left -= 8) {
        std::uint64_t word;
        std::memcpy(&word, at, 8);
        crc = __builtin_ia32_crc32di(crc, word);
    }
    auto tail = static_cast<std::uint32_t>(crc);
    for (; left > 0; ++at, --left) {
        tail = __builtin_ia32_crc32qi(tail, static_cast<unsigned char>(*at));
    }
    return ~tail;
}
#endif

}  // namespace

std::uint32_t detail::crc32c_by_table(std::span<const std::byte> bytes) {
    std::uint32_t crc = 0xFFFFFFFFu;
    for (const std::byte byte : bytes) {
        crc = (crc >> 8) ^ table[(crc ^ static_cast<std::uint32_t>(byte)) & 0xFFu];
    }
    return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
    static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    if (has_instruction) return by_instruction(bytes);
#endif
    return detail::crc32c_by_table(bytes);
}

}  // namespace ako
