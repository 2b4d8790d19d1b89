// Residual sums: gradients, values, and the hooks of the layers inside them.
#include "models/residual.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "gradient_check.h"
#include "layer_settings.h"
#include "models/layer_list.h"
#include "models/subsample.h"

namespace ako::residual_test {

namespace {

using namespace test;

/// A residual as first layer of a list, and what the list needs after it.
LayerList with_residual(Shape input, const LayerSettings& layer) {
    return build_layers(input, {layer, flatten, {LayerKind::dense, 2}});
}

TEST_CASE("residual: gradients agree with differences, whatever is added to what") {
    for (const LayerSettings& layer : {
             residual({conv(3, 3, 1, 1)}),                             // plus its input
             residual({conv(4, 3, 1, 1), group_norm(2), conv(3, 1)}),  // several
             residual({conv(4, 3, 2, 1)}, {conv(4, 1, 2)}),            // a shortcut that learns
             residual({conv(4, 3, 2, 1)}, {{LayerKind::max_pool, 0, 2, 2}, conv(4, 1)}),
             residual({{LayerKind::max_pool, 0, 2, 2}}, {conv(3, 1, 2)}),  // only it learns
             residual({conv(3, 1), residual({conv(3, 3, 1, 1)}, {conv(3, 1)})}),
         }) {
        CAPTURE(layer.layers.size());
        CAPTURE(layer.shortcut.size());
        const Shape input{4, 4, 3};
        const LayerList list = with_residual(input, layer);
        const Range run = list.layers[0]->parameters();
        REQUIRE(run.first == 0);
        Check{*list.layers[0], 2, test::spaced_values(2 * input.element_count(), 20),
              random_values(run.count, 21)}
            .run();
    }
}

/// A convolution of one pixel that passes on `factor` times its input.
std::vector<float> times(float factor) { return {factor, 0}; }

TEST_CASE("subsample: every so many-th pixel, and zeros; gradients agree with differences") {
    Subsample layer({3, 4, 2}, 2, 3);
    CHECK(layer.output_shape() == Shape{2, 2, 3});
    std::vector<float> input(24), output(12, 1e30f);
    std::iota(input.begin(), input.end(), 1.0f);
    layer.forward({1, {}, input, output});
    CHECK(output == std::vector<float>{1, 2, 0, 5, 6, 0, 17, 18, 0, 21, 22, 0});
    Check{layer, 2, random_values(48, 28), {}}.run();
    Subsample same({3, 4, 2}, 1, 2);
    Check{same, 2, random_values(48, 29), {}}.run();
}

TEST_CASE("residual: its output is the sum, and a ReLU inside it sees its own output") {
    const Shape input{1, 4, 1};
    const std::vector<float> values{-2, -1, 1, 3};
    const LayerList list = with_residual(input, residual({conv(1, 1), relu}));
    std::vector<float> output(4), gradient(2), input_gradient(4);
    const std::vector<float> parameters = times(2), given{1, 1, 1, 1};
    list.layers[0]->forward({1, parameters, values, output});
    CHECK(output == std::vector<float>{-2, -1, 3, 9});
    // Where the sum is below 0 or above is nothing to the ReLU: it has cut off the first two.
    list.layers[0]->backward({1, parameters, values, output, given, gradient, input_gradient});
    CHECK(input_gradient == std::vector<float>{1, 1, 3, 3});
    CHECK(gradient == std::vector<float>{4, 2});
}

TEST_CASE("residual: a ReLU at the end of a shortcut sees its own output too") {
    const Shape input{1, 4, 1};
    const std::vector<float> values{-2, -1, 1, 3}, parameters = times(-5), given{1, 1, 1, 1};
    const LayerList list = with_residual(input, residual({conv(1, 1)}, {relu}));
    std::vector<float> output(4), gradient(2), input_gradient(4);
    list.layers[0]->forward({1, parameters, values, output});
    CHECK(output == std::vector<float>{10, 5, -4, -12});
    list.layers[0]->backward({1, parameters, values, output, given, gradient, input_gradient});
    CHECK(input_gradient == std::vector<float>{-5, -5, -4, -4});
}

TEST_CASE("residual: needs come from the first parameter to the last, completions in reverse") {
    const Shape input{4, 4, 2};
    const LayerList list = with_residual(
        input,
        residual({conv(3, 3, 2, 1), group_norm(1), conv(4, 1)}, {conv(4, 1, 2), group_norm(2)}));
    Layer& layer = *list.layers[0];
    const Range run = layer.parameters();
    const std::vector<float> values = random_values(2 * 32, 22);
    const std::vector<float> current = random_values(run.count, 23);
    // What was not asked for is not there yet, what is complete is there no more.
    std::vector<float> parameters(run.count, std::nanf("")), output(2 * 16);
    std::size_t next = 0;
    const AwaitRange await = [&](Range asked) {
        CHECK(asked.first == next);
        next = asked.first + asked.count;
        std::copy_n(&current[asked.first], asked.count, &parameters[asked.first]);
    };
    layer.forward({2, parameters, values, output, &await});
    CHECK(next == run.count);
    for (const float value : output) REQUIRE(std::isfinite(value));
    std::vector<float> gradient(run.count, std::nanf("")), kept(run.count, std::nanf(""));
    const RangeReady ready = [&](Range complete) {
        CHECK(complete.first + complete.count == next);
        next = complete.first;
        std::copy_n(&gradient[complete.first], complete.count, &kept[complete.first]);
        std::fill_n(&parameters[complete.first], complete.count, std::nanf(""));
    };
    std::vector<float> input_gradient(values.size());
    layer.backward({2, parameters, values, output, random_values(output.size(), 24), gradient,
                    input_gradient, &ready});
    CHECK(next == 0);
    for (const float value : kept) REQUIRE(std::isfinite(value));
    for (const float value : input_gradient) REQUIRE(std::isfinite(value));
    CHECK(kept == gradient);
}

TEST_CASE("residual: a batch of any size, growing and shrinking, gives what a fresh layer gives") {
    const Shape input{4, 4, 2};
    const LayerSettings settings = residual({conv(2, 3, 1, 1), relu, conv(3, 1)}, {conv(3, 1)});
    const LayerList used = with_residual(input, settings);
    const std::size_t parameter_count = used.layers[0]->parameters().count;
    const std::vector<float> parameters = random_values(parameter_count, 25);
    for (const std::size_t count : {2u, 7u, 1u, 3u}) {
        const auto gradients_of = [&](const LayerList& list) {
            const auto values = random_values(count * 32, 26);
            std::vector<float> output(count * 48), gradient(parameter_count);
            std::vector<float> input_gradient(values.size());
            list.layers[0]->forward({count, parameters, values, output});
            list.layers[0]->backward({count, parameters, values, output,
                                      random_values(output.size(), 27), gradient, input_gradient});
            gradient.insert(gradient.end(), input_gradient.begin(), input_gradient.end());
            return gradient;
        };
        CHECK(gradients_of(used) == gradients_of(with_residual(input, settings)));
    }
}

}  // namespace
}  // namespace ako::residual_test
