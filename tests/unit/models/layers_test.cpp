// Layers' backward passes against central differences of their forward passes, and known values.
// Sums are in residual_test.cpp, dropout is in dropout_test.cpp.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gradient_check.h"
#include "models/average_pool.h"
#include "models/blas.h"
#include "models/convolution.h"
#include "models/dense.h"
#include "models/flatten.h"
#include "models/group_norm.h"
#include "models/max_pool.h"
#include "models/random.h"
#include "models/relu.h"
#include "models/softmax_cross_entropy.h"

namespace ako::layers_test {

namespace {

using test::Check;
using test::difference_step;
using test::random_values;
using test::spaced_values;

TEST_CASE("dense: gradients agree with differences") {
    ParameterLayout layout;
    Dense layer("d", {1, 1, 7}, 5, layout);
    CHECK(layer.parameters() == Range{0, 40});
    CHECK(layout.element_count() == 40);
    Check{layer, 3, random_values(3 * 7, 1), random_values(40, 2)}.run();
}

TEST_CASE("convolution: gradients agree with differences") {
    struct Case {
        Shape input;
        ConvolutionShape shape;
        Shape output;
    };
    for (const Case& c : {
             Case{{6, 5, 3}, {4, 3}, {4, 3, 4}},        // runs of 9 floats
             Case{{7, 8, 1}, {3, 5}, {3, 4, 3}},        // of 5
             Case{{2, 2, 2}, {3, 2}, {1, 1, 3}},        // a window as large as the image
             Case{{5, 4, 2}, {3, 3, 1, 1}, {5, 4, 3}},  // padding that keeps the size
             Case{{4, 3, 3}, {2, 5, 1, 2}, {4, 3, 2}},  // a window larger than the image
             Case{{7, 6, 2}, {3, 3, 2, 0}, {3, 2, 3}},  // a stride that leaves a column over
             Case{{6, 7, 1}, {2, 3, 3, 1}, {2, 3, 2}},  // both
             Case{{5, 5, 2}, {3, 1, 2, 0}, {3, 3, 3}},  // a stride above the window
             Case{{5, 4, 2}, {3, 3, 1, 1, PaddingMode::replicate}, {5, 4, 3}},
             Case{{3, 4, 2}, {2, 5, 2, 4, PaddingMode::replicate}, {4, 4, 2}},
             Case{{5, 4, 2}, {3, 3, 1, 1, PaddingMode::reflect}, {5, 4, 3}},
             Case{{4, 5, 1}, {2, 5, 2, 3, PaddingMode::reflect}, {3, 4, 2}},
         }) {
        CAPTURE(c.shape.window);
        CAPTURE(c.shape.stride);
        CAPTURE(c.shape.padding);
        ParameterLayout layout;
        Convolution layer("c", c.input, c.shape, layout);
        const std::size_t taps = c.shape.window * c.shape.window * c.input.channels;
        const std::size_t parameters = c.shape.outputs * (taps + 1);
        REQUIRE(layout.element_count() == parameters);
        CHECK(layer.output_shape() == c.output);
        Check{layer, 2, random_values(2 * c.input.element_count(), 3), random_values(parameters, 4)}
            .run();
    }
}

TEST_CASE("convolution: known values with padding and stride") {
    ParameterLayout layout;
    Convolution layer("c", {3, 3, 1}, {1, 3, 2, 1}, layout);
    // The weights tell the taps apart, the bias the rest.
    const std::vector<float> parameters{1, 2, 3, 4, 5, 6, 7, 8, 9, 0.5f};
    const std::vector<float> input{1, 0, 0, 0, 0, 0, 0, 0, 10};
    std::vector<float> output(4);
    layer.forward({1, parameters, input, output});
    CHECK(output == std::vector<float>{5.5f, 0.5f, 0.5f, 50.5f});
}

TEST_CASE("convolution: what stands around the image") {
    const auto framed = [](PaddingMode mode) {
        // Three windows of five pixels each; the weights tell apart the places of a row.
        ParameterLayout layout;
        Convolution layer("c", {3, 3, 1}, {1, 5, 1, 2, mode}, layout);
        std::vector<float> parameters(26), output(9);
        for (std::size_t k = 0; k < 5; ++k)
            parameters[10 + k] = std::array{10000.0f, 1000.0f, 100.0f, 10.0f, 1.0f}[k];
        layer.forward({1, parameters, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}, output});
        return std::vector<float>(output.begin() + 3, output.begin() + 6);
    };
    CHECK(framed(PaddingMode::zeros) == std::vector<float>{456, 4560, 45600});
    CHECK(framed(PaddingMode::replicate) == std::vector<float>{44456, 44566, 45666});
    CHECK(framed(PaddingMode::reflect) == std::vector<float>{65456, 54565, 45654});
}

TEST_CASE("convolution: memory of its own is told before the first batch") {
    for (const std::size_t padding : {0, 2}) {
        ParameterLayout layout;
        Convolution layer("c", {40, 40, 8}, {4, 7, 1, padding}, layout);
        const std::size_t told = layer.scratch_bytes(1);
        const auto parameters = random_values(layout.element_count(), 5);
        const auto input = random_values(40 * 40 * 8, 6);
        std::vector<float> output(layer.output_shape().element_count());
        layer.forward({1, parameters, input, output});
        CHECK(layer.scratch_bytes(1) == told);
        // The kernel and its gradient at least, and the frame; how wide a vector is adds to it.
        const std::size_t side = padding == 0 ? 0 : 40 + 2 * padding;
        CHECK(told >= 2 * layout.element_count() * 4 + side * side * 8 * 4);
    }
}

TEST_CASE("convolution: images that are lowered in several goes give what each gives alone") {
    ParameterLayout layout;
    Convolution layer("c", {28, 28, 1}, {4, 5}, layout);
    const std::size_t count = 21;  // 9 at once: two whole goes and a rest
    const std::size_t outputs = layer.output_shape().element_count();
    const auto parameters = random_values(layout.element_count(), 5);
    const auto input = random_values(count * 784, 6);
    const auto output_gradient = random_values(count * outputs, 7);
    std::vector<float> output(count * outputs), together(layout.element_count());
    layer.forward({count, parameters, input, output});
    layer.backward({count, parameters, input, output, output_gradient, together, {}});
    std::vector<double> sum(layout.element_count());
    for (std::size_t n = 0; n < count; ++n) {
        const auto one_input = std::span(input).subspan(n * 784, 784);
        const auto one_gradient = std::span(output_gradient).subspan(n * outputs, outputs);
        std::vector<float> one_output(outputs), gradient(layout.element_count());
        layer.forward({1, parameters, one_input, one_output});
        layer.backward({1, parameters, one_input, one_output, one_gradient, gradient, {}});
        for (std::size_t k = 0; k < outputs; ++k)
            REQUIRE(one_output[k] == doctest::Approx(output[n * outputs + k]).epsilon(1e-4));
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += gradient[k];
    }
    for (std::size_t k = 0; k < sum.size(); ++k)
        REQUIRE(std::fabs(together[k] - sum[k]) <= 1e-4 * (1 + std::fabs(sum[k])));
}

TEST_CASE("convolution: an image that is lowered in several goes gives what small ones give") {
    // 40 x 40 positions of 7 * 7 * 8 taps are 2.5 MB: rows of positions by themselves. Compared
    // with a product tap by tap in double.
    const Shape image{40, 40, 8};
    constexpr std::size_t outputs = 2, window = 7, padding = 3;
    ParameterLayout layout;
    Convolution layer("c", image, {outputs, window, 1, padding}, layout);
    const std::size_t count = 2;
    const auto parameters = random_values(layout.element_count(), 5);
    const auto input = random_values(count * image.element_count(), 6);
    std::vector<float> output(count * 40 * 40 * outputs);
    const auto output_gradient = random_values(output.size(), 7);
    layer.forward({count, parameters, input, output});
    std::vector<float> gradient(parameters.size(), 1e30f), input_gradient(input.size(), 1e30f);
    layer.backward({count, parameters, input, output, output_gradient, gradient, input_gradient});

    std::vector<double> expected_gradient(parameters.size()), expected_input(input.size());
    for (std::size_t n = 0; n < count; ++n)
        for (std::size_t y = 0; y < 40; ++y)
            for (std::size_t x = 0; x < 40; ++x)
                for (std::size_t o = 0; o < outputs; ++o) {
                    const std::size_t place = ((n * 40 + y) * 40 + x) * outputs + o;
                    double sum = parameters[outputs * 8 * 49 + o];
                    for (std::size_t i = 0; i < window; ++i)
                        for (std::size_t j = 0; j < window; ++j) {
                            const std::size_t row = y + i, column = x + j;
                            if (row < padding || row >= 40 + padding) continue;
                            if (column < padding || column >= 40 + padding) continue;
                            const std::size_t pixel =
                                ((n * 40 + row - padding) * 40 + column - padding) * 8;
                            for (std::size_t c = 0; c < 8; ++c) {
                                const std::size_t tap = ((o * 8 + c) * window + i) * window + j;
                                const double of_output = output_gradient[place];
                                sum += static_cast<double>(parameters[tap]) * input[pixel + c];
                                expected_gradient[tap] += of_output * input[pixel + c];
                                expected_input[pixel + c] += of_output * parameters[tap];
                            }
                        }
                    REQUIRE(std::fabs(output[place] - sum) <= 1e-4 * (1 + std::fabs(sum)));
                }
    for (std::size_t k = 0; k < outputs * 8 * 49; ++k)
        REQUIRE(std::fabs(gradient[k] - expected_gradient[k]) <=
                1e-4 * (10 + std::fabs(expected_gradient[k])));
    for (std::size_t k = 0; k < input.size(); ++k)
        REQUIRE(std::fabs(input_gradient[k] - expected_input[k]) <=
                1e-4 * (1 + std::fabs(expected_input[k])));
}

TEST_CASE("max-pool: gradients agree with differences") {
    struct Case {
        Shape input;
        std::size_t window, stride;
        Shape output;
    };
    for (const Case& c : {
             Case{{4, 6, 5}, 2, 2, {2, 3, 5}},  // the loops of their own
             Case{{5, 7, 3}, 2, 2, {3, 4, 3}},  // cut off at the edge
             Case{{8, 7, 4}, 3, 2, {4, 3, 4}},  // overlapping, and cut off below
             Case{{6, 5, 2}, 3, 1, {4, 3, 2}},
             Case{{3, 3, 2}, 3, 3, {1, 1, 2}},
             Case{{4, 4, 1}, 1, 1, {4, 4, 1}},
         }) {
        CAPTURE(c.window);
        CAPTURE(c.stride);
        MaxPool layer(c.input, c.window, c.stride);
        CHECK(layer.output_shape() == c.output);
        Check{layer, 2, spaced_values(2 * c.input.element_count(), 8), {}}.run();
    }
}

TEST_CASE("max-pool: the sizes of Caffe's cifar-quick") {
    CHECK(MaxPool({32, 32, 1}, 3, 2).output_shape() == Shape{16, 16, 1});
    CHECK(MaxPool({16, 16, 1}, 3, 2).output_shape() == Shape{8, 8, 1});
    CHECK(MaxPool({8, 8, 1}, 3, 2).output_shape() == Shape{4, 4, 1});
}

TEST_CASE("max-pool: of equal maxima the first has the gradient") {
    const std::vector<float> gradient{3};
    const auto spread = [&](MaxPool&& layer, std::vector<float> input) {
        std::vector<float> output(1), input_gradient(input.size(), 1e30f);
        layer.forward({1, {}, input, output});
        layer.backward({1, {}, input, output, gradient, {}, input_gradient});
        return input_gradient;
    };
    const auto in_four = [&](std::vector<float> input) {
        return spread(MaxPool({2, 2, 1}, 2, 2), std::move(input));
    };
    CHECK(in_four({0, 0, 0, 0}) == std::vector<float>{3, 0, 0, 0});
    CHECK(in_four({-1, 2, 2, 2}) == std::vector<float>{0, 3, 0, 0});
    CHECK(in_four({-1, 0, 2, 2}) == std::vector<float>{0, 0, 3, 0});
    CHECK(in_four({-4, -3, -2, -1}) == std::vector<float>{0, 0, 0, 3});
    CHECK(spread(MaxPool({3, 3, 1}, 3, 2), {0, 1, 2, 0, 2, 0, 2, 0, 0}) ==
          std::vector<float>{0, 0, 3, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("global average pool: means of channels, and gradients that agree with differences") {
    GlobalAveragePool layer({1, 2, 3});
    CHECK(layer.output_shape() == Shape{1, 1, 3});
    const std::vector<float> input{0, 1, 2, 10, 11, 14};  // [pixel x channel]
    std::vector<float> output(3);
    layer.forward({1, {}, input, output});
    CHECK(output == std::vector<float>{5, 6, 8});
    GlobalAveragePool wide({4, 3, 5});
    Check{wide, 2, random_values(120, 13), {}}.run();
}

TEST_CASE("group norm: gradients agree with differences") {
    for (const std::size_t groups : {1, 2, 3, 6}) {
        CAPTURE(groups);
        ParameterLayout layout;
        GroupNorm layer("n", {3, 4, 6}, groups, layout);
        CHECK(layout.element_count() == 12);
        CHECK(layer.parameters() == Range{0, 12});
        Check{layer, 2, random_values(2 * 72, 14), random_values(12, 15)}.run();
    }
}

TEST_CASE("group norm: each image and group has mean 0 and variance 1, times factor plus shift") {
    const Shape shape{5, 4, 6};
    constexpr std::size_t groups = 3, in_group = 2, count = 2;
    ParameterLayout layout;
    GroupNorm layer("n", shape, groups, layout);
    std::vector<float> input = random_values(count * shape.element_count(), 16);
    // Far from 0, where sums of squares would cancel out.
    for (float& value : input) value = 1000 + 3 * value;
    const std::vector<float> parameters{1, 1, 2, 2, 1, 1, 0, 0, 0, 0, 0.5f, 0.5f};
    std::vector<float> output(input.size());
    layer.forward({count, parameters, input, output});
    for (std::size_t n = 0; n < count; ++n)
        for (std::size_t group = 0; group < groups; ++group) {
            double sum = 0, squares = 0;
            for (std::size_t pixel = 0; pixel < 20; ++pixel)
                for (std::size_t c = 0; c < in_group; ++c) {
                    const double value =
                        output[(n * 20 + pixel) * 6 + group * in_group + c];
                    sum += value;
                    squares += value * value;
                }
            const double mean = sum / 40, variance = squares / 40 - mean * mean;
            CHECK(mean == doctest::Approx(group == 2 ? 0.5 : 0).epsilon(1e-3));
            CHECK(variance == doctest::Approx(group == 1 ? 4 : 1).epsilon(1e-3));
        }
}

TEST_CASE("group norm: an image is the same in any batch, and one of equal values the bias") {
    const Shape shape{3, 2, 4};
    ParameterLayout layout;
    GroupNorm layer("n", shape, 2, layout);
    std::vector<float> input = random_values(2 * 24, 17);
    std::fill(input.begin(), input.begin() + 24, 7.0f);
    const std::vector<float> parameters = random_values(8, 18);
    std::vector<float> both(48), alone(24), gradient(8), input_gradient(48);
    layer.forward({2, parameters, input, both});
    layer.forward({1, parameters, std::span<const float>(input).last(24), alone});
    CHECK(std::equal(alone.begin(), alone.end(), both.begin() + 24));
    for (std::size_t k = 0; k < 24; ++k) CHECK(both[k] == parameters[4 + k % 4]);
    layer.backward({2, parameters, input, both, random_values(48, 19), gradient, input_gradient});
    for (const float value : input_gradient) CHECK(std::isfinite(value));
}

TEST_CASE("group norm: epsilon is PyTorch's") {
    // Values of +-0.001 have the variance 1e-6, a tenth of epsilon.
    ParameterLayout layout;
    GroupNorm layer("n", {1, 2, 1}, 1, layout);
    const std::vector<float> input{0.001f, -0.001f}, parameters{1, 0};
    std::vector<float> output(2);
    layer.forward({1, parameters, input, output});
    CHECK(output[0] == doctest::Approx(0.001 / std::sqrt(1.1e-5)).epsilon(1e-4));
}

TEST_CASE("relu: gradients agree with differences") {
    Relu layer({2, 3, 5});
    Check{layer, 3, spaced_values(90, 9), {}}.run();
}

TEST_CASE("relu: a NaN is passed on, not hidden") {
    // So many that some are computed together and some by themselves.
    Relu layer({1, 1, 19});
    const std::vector<float> input(19, std::nanf(""));
    std::vector<float> output(19);
    layer.forward({1, {}, input, output});
    for (const float value : output) CHECK(std::isnan(value));
}

TEST_CASE("flatten: puts channels first, and its gradients agree with differences") {
    Flatten layer({1, 2, 3});
    const std::vector<float> input{0, 1, 2, 10, 11, 12};  // [pixel x channel]
    std::vector<float> output(6);
    layer.forward({1, {}, input, output});
    CHECK(output == std::vector<float>{0, 10, 1, 11, 2, 12});
    Flatten wide({4, 3, 5});
    Check{wide, 2, random_values(120, 10), {}}.run();
}

TEST_CASE("softmax cross-entropy: gradients agree with differences") {
    const std::vector<std::uint8_t> labels{2, 0, 3};
    auto scores = random_values(3 * 4, 11);
    for (float& score : scores) score *= 3;
    std::vector<float> gradient(scores.size(), 1e30f);
    softmax_cross_entropy_gradient(scores, labels, 4, gradient);
    for (std::size_t k = 0; k < scores.size(); ++k) {
        const float original = scores[k];
        scores[k] = original + difference_step;
        const double above = softmax_cross_entropy(scores, labels, 4).loss_sum / 3;
        scores[k] = original - difference_step;
        const double below = softmax_cross_entropy(scores, labels, 4).loss_sum / 3;
        scores[k] = original;
        const double expected = (above - below) / (2.0 * difference_step);
        REQUIRE(std::fabs(gradient[k] - expected) <= 1e-4);
    }
}

TEST_CASE("softmax cross-entropy: known values, large scores, scores that are not finite") {
    const std::vector<float> even{0, 0, 0, 0};
    const Evaluation first = softmax_cross_entropy(even, std::vector<std::uint8_t>{0}, 4);
    CHECK(first.loss_sum == doctest::Approx(1.3862943611));
    CHECK(first.correct == 1);
    CHECK(first.count == 1);
    const std::vector<float> large{1000, -1000};
    const Evaluation second = softmax_cross_entropy(large, std::vector<std::uint8_t>{1}, 2);
    CHECK(second.loss_sum == doctest::Approx(2000));
    CHECK(second.correct == 0);
    const std::vector<float> broken{std::nanf(""), 1};
    const Evaluation third = softmax_cross_entropy(broken, std::vector<std::uint8_t>{0}, 2);
    CHECK(std::isnan(third.loss_sum));
    CHECK(third.correct == 0);
}

TEST_CASE("softmax cross-entropy: a score that is not finite is seen wherever it stands") {
    constexpr std::size_t classes = 11;
    for (const float broken : {std::nanf(""), INFINITY})
        for (std::size_t place = 0; place < classes; ++place) {
            CAPTURE(place);
            auto scores = random_values(classes, 12);
            scores[place] = broken;
            const std::vector<std::uint8_t> label{static_cast<std::uint8_t>(place)};
            const Evaluation evaluation = softmax_cross_entropy(scores, label, classes);
            CHECK(std::isnan(evaluation.loss_sum));
            CHECK(evaluation.correct == 0);
            std::vector<float> gradient(classes);
            softmax_cross_entropy_gradient(scores, label, classes, gradient);
            CHECK(std::isnan(gradient[place]));
        }
}

TEST_CASE("softmax cross-entropy: of equal scores the first is the answer") {
    const std::vector<float> scores{0, 2, 1, 2, 2};
    for (std::uint8_t label = 0; label < 5; ++label)
        CHECK(softmax_cross_entropy(scores, std::vector{label}, 5).correct == (label == 1 ? 1 : 0));
}

TEST_CASE("softmax cross-entropy: a class without any chance has no gradient") {
    std::vector<float> scores(11, -1000.0f), gradient(11, 1e30f);
    scores[7] = 1000;
    softmax_cross_entropy_gradient(scores, std::vector<std::uint8_t>{7}, 11, gradient);
    CHECK(gradient == std::vector<float>(11));  // nor so small a one that products take long
}

TEST_CASE("multiply: all four ways to transpose, overwriting and adding") {
    const std::vector<float> a{1, 2, 3, 4, 5, 6};     // [2 x 3]
    const std::vector<float> b{1, 0, 2, 1, 0, 3};     // [3 x 2]
    const std::vector<float> a_t{1, 4, 2, 5, 3, 6};   // [3 x 2]
    const std::vector<float> b_t{1, 2, 0, 0, 1, 3};   // [2 x 3]
    const std::vector<float> product{5, 11, 14, 23};  // [2 x 2]
    const std::vector<float> doubled{10, 22, 28, 46};
    for (const Matrix& left : {Matrix{a.data(), 2, 3}, Matrix{a_t.data(), 3, 2}.transpose()})
        for (const Matrix& right : {Matrix{b.data(), 3, 2}, Matrix{b_t.data(), 2, 3}.transpose()}) {
            std::vector<float> result(4, 1e30f);
            multiply(left, right, result.data(), Product::overwrite);
            CHECK(result == product);
            multiply(left, right, result.data(), Product::accumulate);
            CHECK(result == doubled);
        }
}

TEST_CASE("blas: a CPU with AVX2 does not compute with kernels of 2004") {
    select_blas_kernels();
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && std::getenv("OPENBLAS_CORETYPE") == nullptr)
        CHECK(blas_kernels() != "Prescott");
#endif
    CHECK_FALSE(blas_kernels().empty());
}

}  // namespace
}  // namespace ako::layers_test
