// CRC-32C: by the SSE4.2 instruction, eight bytes at a time in three strands, or by a table of 256
// entries. The instruction takes three cycles and can begin anew in every one, so three strands
// that do not wait for each other are three times as fast. A CRC is linear: the strands are joined
// by moving a CRC on over as many zero bytes as the next strand has (Gopal et al., "Fast CRC
// Computation for iSCSI Polynomial Using CRC32 Instruction", Intel, 2011).
#include "src/numbers/checksum.h"

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
/// Bytes of one strand: eight times three strands are a block of 16 KiB but for 64 bytes.
constexpr std::size_t strand = 680;

/// Moves a CRC on over a strand of zero bytes, one entry for each value of each of its bytes.
using StrandTables = std::array<std::array<std::uint32_t, 256>, 4>;

constexpr StrandTables make_strand_tables() {
    std::array<std::uint32_t, 32> of_bit{};
    for (unsigned bit = 0; bit < 32; ++bit) {
        std::uint32_t crc = std::uint32_t{1} << bit;
        for (std::size_t k = 0; k < strand; ++k) crc = (crc >> 8) ^ table[crc & 0xFFu];
        of_bit[bit] = crc;
    }
    StrandTables tables{};
    for (unsigned byte = 0; byte < 4; ++byte) {
        for (std::uint32_t value = 0; value < 256; ++value) {
            for (unsigned bit = 0; bit < 8; ++bit) {
                if ((value >> bit) & 1u) tables[byte][value] ^= of_bit[8 * byte + bit];
            }
        }
    }
    return tables;
}

constexpr auto strand_tables = make_strand_tables();

std::uint32_t over_a_strand(std::uint32_t crc) {
    return strand_tables[0][crc & 0xFFu] ^ strand_tables[1][(crc >> 8) & 0xFFu] ^
           strand_tables[2][(crc >> 16) & 0xFFu] ^ strand_tables[3][crc >> 24];
}

std::uint64_t word_at(const std::byte* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes,
                                                               std::uint32_t before) {
    std::uint64_t crc = static_cast<std::uint32_t>(~before);
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 3 * strand; at += 3 * strand, left -= 3 * strand) {
        std::uint64_t second = 0;
        std::uint64_t third = 0;
        for (std::size_t k = 0; k < strand; k += 8) {
            crc = __builtin_ia32_crc32di(crc, word_at(at + k));
            second = __builtin_ia32_crc32di(second, word_at(at + strand + k));
            third = __builtin_ia32_crc32di(third, word_at(at + 2 * strand + k));
        }
        crc = over_a_strand(static_cast<std::uint32_t>(crc)) ^ second;
        crc = over_a_strand(static_cast<std::uint32_t>(crc)) ^ third;
    }
    for (; left >= 8; at += 8, left -= 8) crc = __builtin_ia32_crc32di(crc, word_at(at));
    auto tail = static_cast<std::uint32_t>(crc);
    for (; left > 0; ++at, --left) {
        tail = __builtin_ia32_crc32qi(tail, static_cast<unsigned char>(*at));
    }
    return ~tail;
}
#endif

}  // namespace

std::uint32_t detail::crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before) {
    std::uint32_t crc = ~before;
    for (const std::byte byte : bytes) {
        crc = (crc >> 8) ^ table[(crc ^ static_cast<std::uint32_t>(byte)) & 0xFFu];
    }
    return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(__x86_64__)
    static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    if (has_instruction) return by_instruction(bytes, before);
#endif
    return detail::crc32c_by_table(bytes, before);
}

}  // namespace ako
