// CRC-32C: known vectors, and the two ways to compute it.
#include "src/numbers/checksum.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace ako::checksum_test {

namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace

TEST_CASE("CRC-32C of the known vectors") {
    // The check value of the catalogue of CRCs, then RFC 3720, appendix B.4.
    CHECK(crc32c(bytes_of("123456789")) == 0xE3069283u);
    CHECK(crc32c(bytes_of(std::string(32, '\0'))) == 0x8A9136AAu);
    CHECK(crc32c(bytes_of(std::string(32, '\xFF'))) == 0x62A8AB43u);
    CHECK(crc32c(bytes_of("")) == 0u);
}

TEST_CASE("the instruction and the table agree on every length and alignment") {
    std::mt19937_64 random(1);
    std::vector<std::byte> bytes(300);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    for (std::size_t first = 0; first < 9; ++first) {
        for (std::size_t count = 0; first + count <= bytes.size(); ++count) {
            const auto part = std::span<const std::byte>(bytes).subspan(first, count);
            REQUIRE(crc32c(part) == detail::crc32c_by_table(part));
        }
    }
}

TEST_CASE("they agree where the instruction works in strands, too") {
    std::mt19937_64 random(2);
    std::vector<std::byte> bytes(20'000);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    for (const std::size_t count : {2039, 2040, 2041, 4080, 6127, 16'384, 20'000}) {
        const auto part = std::span<const std::byte>(bytes).first(count);
        REQUIRE(crc32c(part) == detail::crc32c_by_table(part));
    }
}

TEST_CASE("one flipped bit of a block is always seen") {
    std::vector<float> values(64, 1.5F);
    const std::uint32_t before = crc32c(std::span<const float>(values));
    const auto bytes = std::as_writable_bytes(std::span<float>(values));
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
        REQUIRE(crc32c(std::span<const float>(values)) != before);
        bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    }
}

}  // namespace ako::checksum_test
