// The rounding carry of the running total.
#include "src/rows/own_row.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <set>

#include "src/numbers/checksum.h"
#include "src/rows/coded_blocks.h"
#include "src/rows/grid.h"

namespace ako::own_row_test {

TEST_CASE("400,000 tiny updates: the total stays exact where a plain float32 sum loses them") {
    const Blocks blocks(4, 4);
    OwnRow row(blocks);
    Snapshot snapshots[2];
    for (Snapshot& snapshot : snapshots) {
        snapshot.values = {100, -100, 1, 0};
        snapshot.checksums.assign(1, 0);
    }
    std::vector<double> exact{100, -100, 1, 0};
    std::vector<float> plain{100, -100, 1, 0};
    std::vector<float> update(4);
    std::vector<float> difference(4);
    std::mt19937_64 random(3);
    int now = 0;
    for (int round = 0; round < 400'000; ++round) {
        for (std::size_t k = 0; k < 4; ++k) {
            update[k] = 3e-6F * (1 + 0x1p-20F * static_cast<float>(random() % 1'000'000));
            exact[k] += update[k];
            plain[k] += update[k];
        }
        row.add(0, snapshots[now], update, snapshots[1 - now], difference);
        now = 1 - now;
    }
    for (std::size_t k = 0; k < 4; ++k) {
        CAPTURE(k);
        // Never further off than one rounding of the total.
        CHECK(std::abs(snapshots[now].values[k] - exact[k]) <= std::abs(exact[k]) * 0x1p-24 + 1e-7);
    }
    CHECK(std::abs(plain[0] - exact[0]) > 0.1);
    CHECK(std::abs(plain[1] - exact[1]) > 0.1);
}

TEST_CASE("what is said to have been added is what the total grew by, bit for bit") {
    const Blocks blocks(10, 4);
    OwnRow row(blocks);
    Snapshot current;
    Snapshot next;
    for (Snapshot* snapshot : {&current, &next}) {
        snapshot->values.assign(10, 0.7F);
        snapshot->checksums.assign(3, 0);
    }
    const std::vector<float> update{1e-9F, 0.1F, -3, 1e8F};
    std::vector<float> difference(4);
    row.add(1, current, update, next, difference);
    for (std::size_t k = 0; k < 4; ++k) CHECK(difference[k] == next.values[4 + k] - 0.7F);
    CHECK(difference[0] == 0);  // carried to the next round
    CHECK(next.checksums[1] == crc32c(std::span<const float>(next.values).subspan(4, 4)));

    SUBCASE("the other blocks are left alone") {
        CHECK(next.checksums[0] == 0);
        for (const std::size_t k : {0u, 3u, 8u, 9u}) CHECK(next.values[k] == 0.7F);
        CHECK(current.values == std::vector<float>(10, 0.7F));
    }
    SUBCASE("the last block may be shorter, and each element has a carry of its own") {
        std::vector<float> grown(2);
        for (int round = 0; round < 100; ++round) {
            row.add(2, current, std::vector<float>{2e-9F, 0}, next, grown);
            current.values = next.values;
        }
        CHECK(std::abs(next.values[8] - (0.7F + 2e-7)) < 4e-8);  // half a unit of the last place
        CHECK(next.values[8] > 0.7F);
        CHECK(next.values[9] == 0.7F);
    }
}

TEST_CASE("an adaptive row is on a grid, and carries what that cuts off") {
    constexpr std::size_t count = 64;
    const Blocks blocks(count, count);
    OwnRow row(blocks, Precision::adaptive);
    Snapshot snapshots[2];
    for (Snapshot& snapshot : snapshots) {
        snapshot.values.assign(count, 0.0F);
        snapshot.checksums.assign(1, 0);
    }
    std::vector<double> exact(count, 0.0);
    std::vector<float> update(count), difference(count);
    std::mt19937_64 random(3);
    int now = 0;
    std::set<unsigned> seen;
    for (int round = 0; round < 4000; ++round) {
        const float rate = 0.1F * std::pow(0.997F, static_cast<float>(round));
        for (std::size_t k = 0; k < count; ++k) {
            update[k] = rate * (static_cast<float>(random() % 2001) / 1000 - 0.9F);
            exact[k] += update[k];
        }
        row.add(0, snapshots[now], update, snapshots[1 - now], difference);
        now = 1 - now;
        std::vector<std::byte> coded;
        encode_block(snapshots[now].values, coded);
        seen.insert(static_cast<unsigned>(coded[0]));
        const float largest = largest_of(snapshots[now].values);
        for (std::size_t k = 0; k < count; ++k) {
            const double off = exact[k] - snapshots[now].values[k];
            REQUIRE(off == doctest::Approx(row.carry()[k]).epsilon(1e-3).scale(largest));
            REQUIRE(std::abs(off) <= Grid::of(largest, 1)->step());
        }
    }
    CHECK(seen == std::set<unsigned>{1, 2});  // finer, as the updates become small
    const float step = Grid::of(largest_of(snapshots[now].values), 2)->step();
    for (std::size_t k = 0; k < count; ++k)
        CHECK(std::abs(exact[k] - snapshots[now].values[k]) < 0.51 * step);
}

}  // namespace ako::own_row_test
