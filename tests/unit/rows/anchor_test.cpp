// The anchor against long double, and its bits.
#include "src/rows/anchor.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

namespace ako::anchor_test {

namespace {

struct Rows {
    std::vector<float> initial;
    std::vector<std::vector<float>> values;

    Rows(std::size_t peer_count, std::size_t element_count, std::uint64_t seed) {
        std::mt19937_64 random(seed);
        // The values are of very different sizes, so that every rounding shows.
        const auto draw = [&] {
            const auto mantissa = static_cast<float>(static_cast<int>(random() % 2001) - 1000);
            return std::ldexp(mantissa, static_cast<int>(random() % 20) - 15);
        };
        for (std::size_t k = 0; k < element_count; ++k) initial.push_back(draw());
        values.resize(peer_count);
        for (auto& row : values) {
            for (std::size_t k = 0; k < element_count; ++k) row.push_back(draw());
        }
    }

    std::vector<std::span<const float>> spans() const { return {values.begin(), values.end()}; }

    std::vector<float> anchor(Range range) const {
        std::vector<float> out(range.count);
        compute_anchor(initial, spans(), range, out);
        return out;
    }
};

}  // namespace

TEST_CASE("the anchor is the initial parameters and the mean of the rows, rounded once") {
    for (const std::size_t peer_count : {1u, 2u, 3u, 5u, 16u, 64u}) {
        const Rows rows(peer_count, 3000, peer_count);
        const std::vector<float> anchor = rows.anchor({0, 3000});
        for (std::size_t k = 0; k < anchor.size(); ++k) {
            long double sum = 0;
            for (const auto& row : rows.values) sum += row[k];
            const long double exact = rows.initial[k] + sum / static_cast<long double>(peer_count);
            // Half a unit of float, and what a few roundings of double may move the tie.
            const double allowed =
                std::ldexp(std::abs(static_cast<double>(exact)), -24) * (1 + 1e-6) + 1e-12;
            REQUIRE(std::abs(static_cast<double>(anchor[k] - exact)) <= allowed);
        }
    }
}

TEST_CASE("the sum is made in double precision in the order of the peers") {
    // 2^53 swallows a 1 that is added to it, but not one that is added to 0 first.
    const float large = 0x1p53F;
    const std::vector<float> initial{0};
    const std::vector<std::vector<float>> values{{1}, {large}, {1}, {-large}};
    const std::vector<std::span<const float>> rows(values.begin(), values.end());
    std::vector<float> out(1);
    compute_anchor(initial, rows, {0, 1}, out);
    CHECK(out[0] == static_cast<float>((((1.0 + 0x1p53) + 1.0) - 0x1p53) / 4));
    const std::vector<std::span<const float>> turned(rows.rbegin(), rows.rend());
    compute_anchor(initial, turned, {0, 1}, out);
    CHECK(out[0] == static_cast<float>((((-0x1p53 + 1.0) + 0x1p53) + 1.0) / 4));
    CHECK(out[0] != static_cast<float>((((1.0 + 0x1p53) + 1.0) - 0x1p53) / 4));
}

TEST_CASE("a part of the anchor has the same bits as the whole") {
    const Rows rows(5, 2500, 7);
    const std::vector<float> whole = rows.anchor({0, 2500});
    for (const Range range : {Range{0, 1}, Range{1023, 2}, Range{17, 1500}, Range{2499, 1}}) {
        const std::vector<float> part = rows.anchor(range);
        CHECK(std::equal(part.begin(), part.end(), whole.begin() + static_cast<int>(range.first)));
    }
    CHECK(rows.anchor({100, 0}).empty());
}

}  // namespace ako::anchor_test
