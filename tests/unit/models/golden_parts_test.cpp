// Single layers and residual sums against golden values from NumPy, whose gradients are differences
// in float64 (tests/golden/make_parts.py).
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "golden_pattern.h"
#include "layer_settings.h"
#include "models/layer_list.h"
#include "tests/in_source.h"

namespace ako::golden_parts_test {

namespace {

using test::conv, test::group_norm;

constexpr std::size_t count = 2;

std::vector<float> pattern(std::size_t first, std::size_t size, float factor = 1) {
    std::vector<float> values(size);
    for (std::size_t k = 0; k < size; ++k) values[k] = factor * test::pattern(first + k);
    return values;
}

LayerSettings residual(std::size_t stride, std::vector<LayerSettings> shortcut) {
    return test::residual({conv(4, 3, stride, 1), group_norm(2), {LayerKind::relu},
                           conv(4, 3, 1, 1), group_norm(2)},
                          std::move(shortcut));
}

struct Part {
    Shape image;
    LayerSettings layer;
};

const std::map<std::string, Part> parts = {
    {"conv_zeros", {{5, 4, 2}, conv(3, 3, 1, 1)}},
    {"conv_zeros_stride", {{6, 5, 2}, conv(2, 3, 2, 1)}},
    {"conv_replicate", {{5, 4, 2}, conv(3, 3, 1, 1, PaddingMode::replicate)}},
    {"conv_replicate_wide", {{3, 4, 1}, conv(2, 5, 2, 4, PaddingMode::replicate)}},
    {"conv_reflect", {{5, 4, 2}, conv(3, 3, 1, 1, PaddingMode::reflect)}},
    {"conv_reflect_wide", {{4, 5, 1}, conv(2, 5, 2, 3, PaddingMode::reflect)}},
    {"group_norm", {{3, 4, 6}, group_norm(3)}},
    {"global_average_pool", {{3, 4, 5}, {LayerKind::global_average_pool}}},
    {"residual", {{4, 4, 4}, residual(1, {})}},
    {"residual_subsample", {{4, 5, 2}, residual(2, {{LayerKind::subsample, 4, 0, 2}})}},
    {"residual_conv", {{4, 4, 2}, residual(2, {conv(4, 1, 2, 0), group_norm(1)})}},
};

/// What the layer gives and its gradients, by their names in the golden file.
std::map<std::string, std::vector<float>> values_of(const Part& part) {
    // A list needs an end that gives scores; only its first layer is asked.
    const LayerList list =
        build_layers(part.image, {part.layer, {LayerKind::flatten}, {LayerKind::dense, 2}});
    Layer& layer = *list.layers[0];
    const std::size_t outputs = count * layer.output_shape().element_count();
    const auto input = pattern(1'000'003, count * part.image.element_count(), 2);
    const auto parameters = pattern(0, layer.parameters().count);
    std::vector<float> output(outputs), input_gradient(input.size());
    std::vector<float> parameter_gradient(parameters.size());
    layer.forward({count, parameters, input, output});
    layer.backward({count, parameters, input, output, pattern(2'000'003, outputs),
                    parameter_gradient, input_gradient});
    return {{"output", output}, {"input", input_gradient}, {"parameter", parameter_gradient}};
}

TEST_CASE("parts: outputs and gradients agree with NumPy") {
    std::ifstream file(test::in_source("tests/golden/parts.txt"));
    REQUIRE(file);
    std::map<std::string, std::map<std::string, std::vector<float>>> found;
    for (const auto& [name, part] : parts) found[name] = values_of(part);
    std::map<std::string, int> seen;
    std::string name, what;
    std::size_t index = 0;
    double expected = 0;
    while (file >> name >> what >> index >> expected) {
        if (!parts.contains(name)) continue;
        CAPTURE(name);
        CAPTURE(what);
        CAPTURE(index);
        REQUIRE(index < found[name][what].size());
        CHECK(std::fabs(found[name][what][index] - expected) <= 2e-5 * (1 + std::fabs(expected)));
        ++seen[name];
    }
    CHECK(seen.size() == parts.size());
    for (const auto& [part, values] : seen) {
        CAPTURE(part);
        CHECK(values >= 40);
    }
}

}  // namespace
}  // namespace ako::golden_parts_test
