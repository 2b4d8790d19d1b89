// Nested products against sums in double, with the loops of every width of vectors that the
// processor has.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "gradient_check.h"
#include "models/vector_loops.h"

namespace ako::vector_loops_test {

namespace {

using test::random_values;

/// result[i, j] += the terms; all with strides, i and j counted by two loops each.
void add_in_double(const NestedProduct& p, std::vector<double>& result) {
    for (std::size_t y = 0; y < p.rows.outer.count; ++y)
        for (std::size_t x = 0; x < p.rows.inner.count; ++x)
            for (std::size_t u = 0; u < p.terms.outer.count; ++u)
                for (std::size_t v = 0; v < p.terms.inner.count; ++v)
                    for (std::size_t j = 0; j < p.columns; ++j)
                        result[y * p.outer_result_stride + x * p.inner_result_stride + j] +=
                            static_cast<double>(
                                p.left[y * p.rows.outer.stride + x * p.rows.inner.stride +
                                       u * p.terms.outer.stride + v * p.terms.inner.stride]) *
                            p.right[(u * p.terms.inner.count + v) * p.right_stride + j];
}

TEST_CASE("nested product: windows of an image, for any number of rows and columns") {
    constexpr std::size_t width = 20, height = 4, channels = 3, window = 2;
    const auto image = random_values((height + 1) * (width + 1) * channels, 1);
    for (const std::size_t columns : {1, 4, 7, 16, 20, 33, 48, 50, 64, 80})
        for (std::size_t row_count = 1; row_count <= width; ++row_count) {
            CAPTURE(columns);
            CAPTURE(row_count);
            const std::size_t padded = padded_columns(columns);
            const auto right = random_values(window * window * channels * padded, 2);
            const auto start = random_values(padded, 3);
            // Behind each row of the result a number that must stay.
            const std::size_t stride = columns + 1;
            std::vector<float> result(height * row_count * stride, 5.0f);
            NestedProduct product{
                image.data(),
                {{height, (width + 1) * channels}, {row_count, channels}},
                {{window, (width + 1) * channels}, {window * channels, 1}},
                right.data(),
                padded,
                columns,
                result.data(),
                row_count * stride,
                stride,
                start.data()};
            std::vector<double> expected(result.begin(), result.end());
            for (std::size_t k = 0; k < expected.size(); ++k)
                if (k % stride < columns) expected[k] = start[k % stride];
            multiply(product);
            product.start = nullptr;  // and once more on top of that
            multiply(product);
            add_in_double(product, expected);
            add_in_double(product, expected);
            for (std::size_t k = 0; k < expected.size(); ++k)
                REQUIRE(result[k] == doctest::Approx(expected[k]).epsilon(1e-5).scale(10));
        }
}

TEST_CASE("nested product: more terms than the cache holds, and none") {
    constexpr std::size_t outer = 70, inner = 40, columns = 40;  // 350 KB of 32 columns
    const auto left = random_values(3 * outer * inner, 1);
    const std::size_t padded = padded_columns(columns);
    const auto right = random_values(outer * inner * padded, 2);
    const std::vector<float> start(padded, 0.5f);
    std::vector<float> result(3 * columns, 1e30f);
    NestedProduct product{left.data(),
                          {{1, 0}, {3, outer * inner}},
                          {{outer, inner}, {inner, 1}},
                          right.data(),
                          padded,
                          columns,
                          result.data(),
                          0,
                          columns,
                          start.data()};
    multiply(product);
    std::vector<double> expected(result.size(), 0.5);
    add_in_double(product, expected);
    for (std::size_t k = 0; k < expected.size(); ++k)
        REQUIRE(result[k] == doctest::Approx(expected[k]).epsilon(1e-5).scale(100));
    product.terms.outer.count = 0;
    multiply(product);
    CHECK(result == std::vector<float>(result.size(), 0.5f));
}

void check_tile(const VectorLoops& loops, std::size_t vectors, std::size_t rows,
                std::size_t columns) {
    constexpr std::size_t terms = 6;
    const std::size_t padded = vectors * loops.lanes;
    const auto left = random_values(rows * terms, 1);
    const auto right = random_values(terms * padded, 2);
    std::vector<float> result(rows * columns + 1, 2.0f);
    std::vector<double> expected(result.begin(), result.end());
    loops.tiles.add[vectors - 1][rows - 1]({left.data(),
                                            terms,
                                            {{2, 3}, {3, 1}},
                                            right.data(),
                                            padded,
                                            result.data(),
                                            columns,
                                            columns,
                                            nullptr});
    add_in_double({left.data(),
                   {{1, 0}, {rows, terms}},
                   {{1, 0}, {terms, 1}},
                   right.data(),
                   padded,
                   columns,
                   nullptr,
                   0,
                   columns,
                   nullptr},
                  expected);
    for (std::size_t k = 0; k < expected.size(); ++k)
        REQUIRE(result[k] == doctest::Approx(expected[k]).epsilon(1e-5).scale(10));
}

TEST_CASE("tiles: all that fit, for every width of vectors of this processor") {
    for (std::size_t place = 0; usable_loops(place) != nullptr; ++place) {
        const VectorLoops& loops = *usable_loops(place);
        CAPTURE(loops.lanes);
        for (std::size_t vectors = 1; vectors <= TileLoops::vectors_most; ++vectors)
            for (std::size_t rows = 1; rows <= loops.tiles.fitting_rows[vectors - 1]; ++rows)
                for (std::size_t left_out = 0; left_out < loops.lanes; left_out += 3)
                    check_tile(loops, vectors, rows, vectors * loops.lanes - left_out);
    }
}

TEST_CASE("pooling: every width of vectors gives the same") {
    constexpr std::size_t channels = 21, side = 7;
    const auto image = random_values(side * side * channels, 1);
    for (const PooledImage& shape : {PooledImage{side, side, channels, 3, 2, 3, 3},
                                     PooledImage{side, side, channels, 2, 2, 4, 4}}) {
        const std::size_t outputs = shape.output_height * shape.output_width * channels;
        const auto gradient = random_values(outputs, 2);
        std::vector<float> maxima[2], spread[2];
        for (std::size_t place = 0; usable_loops(place) != nullptr; ++place) {
            const PoolLoops& loops = usable_loops(place)->pool;
            const std::size_t k = place == 0 ? 0 : 1;
            maxima[k].assign(outputs, 1e30f);
            spread[k].assign(image.size(), 1e30f);
            loops.pool(shape, image.data(), maxima[k].data());
            loops.spread(shape, image.data(), maxima[k].data(), gradient.data(), spread[k].data());
            CHECK(maxima[k] == maxima[0]);
            CHECK(spread[k] == spread[0]);
        }
    }
}

TEST_CASE("normalisation: every width of vectors gives nearly the same") {
    constexpr std::size_t channels = 21, pixels = 7;
    const auto image = random_values(pixels * channels, 1), given = random_values(image.size(), 2);
    const auto factor = random_values(channels, 3), bias = random_values(channels, 4);
    std::vector<float> expected;
    for (std::size_t place = 0; usable_loops(place) != nullptr; ++place) {
        const NormLoops& loops = usable_loops(place)->norm;
        std::vector<float> sums(channels), squares(channels), output(image.size());
        std::vector<float> gradient_sums(channels), products(channels), gradient(image.size());
        const NormalisedImage view{pixels, channels, image.data(), sums.data()};
        loops.sum_pixels(view, sums.data());
        loops.sum_squares(view, squares.data());
        loops.scale(view, factor.data(), bias.data(), output.data());
        loops.sum_gradients(view, given.data(), gradient_sums.data(), products.data());
        loops.write_gradients(view, given.data(), factor.data(), bias.data(), sums.data(),
                              gradient.data());
        std::vector<float> all;
        for (const auto& part : {sums, squares, output, gradient_sums, products, gradient})
            all.insert(all.end(), part.begin(), part.end());
        if (place == 0) expected = all;
        for (std::size_t k = 0; k < all.size(); ++k)
            CHECK(all[k] == doctest::Approx(expected[k]).epsilon(1e-5).scale(1));
    }
}

}  // namespace
}  // namespace ako::vector_loops_test
