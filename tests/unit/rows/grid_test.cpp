// Grids: what is on them, and which is chosen.
#include "src/rows/grid.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ako::grid_test {

TEST_CASE("the step is the least power of two with which the largest value fits") {
    for (const unsigned bytes : {1u, 2u}) {
        const float most = bytes == 1 ? 127 : 32767;
        for (const float largest : {1e-20F, 0.03F, 1.0F, 127.0F, 127.5F, 128.0F, 32767.0F, 3e7F}) {
            CAPTURE(bytes);
            CAPTURE(largest);
            const auto grid = Grid::of(largest, bytes);
            REQUIRE(grid);
            CHECK(grid->step() == std::ldexp(1.0F, grid->exponent()));
            CHECK(largest <= most * grid->step());
            CHECK(largest > most * grid->step() / 2);
        }
    }
    CHECK(Grid::of(127, 1)->exponent() == 0);
    CHECK(Grid::of(0, 1)->exponent() == 0);
    CHECK(!Grid::of(1e-38F, 1));
    CHECK(!Grid::of(3e38F, 1));
    CHECK(!Grid::of(std::numeric_limits<float>::infinity(), 2));
}

TEST_CASE("a value is rounded to the nearest step, and what is rounded is of the same grid again") {
    std::mt19937_64 random(5);
    for (const unsigned bytes : {1u, 2u}) {
        for (int k = 0; k < 20'000; ++k) {
            const float largest = std::ldexp(1.0F + static_cast<float>(random() % 4096) / 4096,
                                             static_cast<int>(random() % 40) - 20);
            const Grid grid = *Grid::of(largest, bytes);
            const float value = largest * (static_cast<float>(random() % 20001) / 10000 - 1);
            const float rounded = grid.rounded(value);
            REQUIRE(std::abs(rounded - value) <= grid.step() / 2);
            REQUIRE(rounded == grid.whole(value) * grid.step());
            REQUIRE(grid.rounded(rounded) == rounded);
            REQUIRE(Grid::of(grid.rounded(largest), bytes)->exponent() == grid.exponent());
        }
    }
}

TEST_CASE("eight bits do while a typical update crosses a step soon, then sixteen") {
    const auto with = [](float largest, float update) {
        const std::vector<float> updates(100, update);
        const auto grid = Grid::fitting(largest, updates);
        return grid ? grid->bytes() : 4;
    };
    const float step = Grid::of(1, 1)->step();
    CHECK(with(1, 1.01F * step / Grid::rounds_per_step_max) == 1);
    CHECK(with(1, 0.99F * step / Grid::rounds_per_step_max) == 2);
    CHECK(with(1, 0) == 2);
    CHECK(with(0, 0) == 1);
    CHECK(with(1e-38F, 1) == 4);
}

}  // namespace ako::grid_test
