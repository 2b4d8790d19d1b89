// Blocks in fewer bytes: bitwise what went in, and refused if they do not lie as they should.
#include "src/rows/coded_blocks.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "src/rows/grid.h"

namespace ako::coded_blocks_test {

namespace {

std::vector<float> on_grid(std::size_t count, unsigned bytes, std::mt19937_64& random) {
    const Grid grid = *Grid::of(0.37F, bytes);
    std::vector<float> values;
    for (std::size_t k = 0; k < count; ++k)
        values.push_back(grid.rounded(0.37F * (static_cast<float>(random() % 2001) / 1000 - 1)));
    values[count / 2] = grid.rounded(0.37F);
    return values;
}

std::vector<std::byte> coded(const std::vector<std::vector<float>>& blocks) {
    std::vector<std::byte> out;
    for (const std::vector<float>& block : blocks) encode_block(block, out);
    end_blocks(out);
    return out;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

}  // namespace

TEST_CASE("blocks come out as they went in, each in as few bytes as its grid allows") {
    std::mt19937_64 random(9);
    std::vector<float> odd = on_grid(40, 2, random);
    odd[39] = 0.1F;  // on no grid, which shows only at the end
    std::vector<float> negative_zero = on_grid(40, 1, random);
    negative_zero[20] = -0.0F;
    const std::vector<std::vector<float>> blocks = {
        on_grid(40, 1, random), on_grid(40, 2, random), odd,   std::vector<float>(40, 0.0F),
        negative_zero,          {1e-42F, 3e38F, 0.1F},  {5.0F}};
    const std::vector<std::size_t> bytes = {40, 80, 160, 40, 160, 12, 1};
    for (std::size_t k = 0; k < blocks.size(); ++k) {
        CAPTURE(k);
        std::vector<std::byte> alone;
        encode_block(blocks[k], alone);
        CHECK(alone.size() == 2 + bytes[k]);
    }
    const std::vector<std::byte> payload = coded(blocks);
    CHECK(payload.size() % 4 == 0);
    std::span<const std::byte> left = payload;
    for (const std::vector<float>& block : blocks) {
        std::vector<float> values(block.size());
        REQUIRE(decode_block(left, values));
        CHECK(same_bits(values, block));
    }
    CHECK(at_end_of_blocks(left));
}

TEST_CASE("what is cut off, too long or of an unknown kind is no block") {
    std::mt19937_64 random(9);
    const std::vector<std::byte> payload = coded({on_grid(41, 2, random)});
    std::vector<float> values(41);
    for (std::size_t size = 0; size < 2 + 2 * 41; ++size) {
        std::span<const std::byte> left = std::span(payload).first(size);
        CHECK(!decode_block(left, values));
    }
    for (const int kind : {0, 3, 5, 255}) {
        std::vector<std::byte> other = payload;
        other[0] = static_cast<std::byte>(kind);
        std::span<const std::byte> left = other;
        CHECK(!decode_block(left, values));
    }
    const std::vector<std::byte> zeros(4), ones(1, std::byte{1});
    CHECK(at_end_of_blocks(std::span(zeros).first(3)));
    CHECK(!at_end_of_blocks(zeros));
    CHECK(!at_end_of_blocks(ones));
}

TEST_CASE("any bytes are either refused or values") {
    std::mt19937_64 random(4);
    for (int k = 0; k < 5000; ++k) {
        std::vector<std::byte> payload(random() % 60);
        for (std::byte& byte : payload) byte = static_cast<std::byte>(random());
        if (!payload.empty() && random() % 2) payload[0] = static_cast<std::byte>(1 + random() % 2);
        std::span<const std::byte> left = payload;
        std::vector<float> values(1 + random() % 12);
        const std::size_t before = left.size();
        if (decode_block(left, values)) {
            CHECK(left.size() < before);
        } else {
            CHECK(left.size() == before);
        }
    }
}

}  // namespace ako::coded_blocks_test
