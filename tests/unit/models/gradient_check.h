// A layer's backward pass against central differences of its forward pass. The function that is
// differentiated is a fixed weighted sum of the outputs, summed in double.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/layer.h"
#include "models/random.h"

namespace ako::test {

inline std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
    std::vector<float> values(count);
    RandomStream random(seed);
    for (float& value : values) value = symmetric_unit(random.next());
    return values;
}

/// Distinct values, a multiple of 0.03 apart and none near 0, in random order: no step of
/// `difference_step` moves one across a kink of max or ReLU.
inline std::vector<float> spaced_values(std::size_t count, std::uint64_t seed) {
    std::vector<std::uint32_t> order(count);
    for (std::size_t k = 0; k < count; ++k) order[k] = static_cast<std::uint32_t>(k);
    RandomStream random(seed);
    shuffle(order, random);
    std::vector<float> values(count);
    for (std::size_t k = 0; k < count; ++k)
        values[k] = 0.03f * (static_cast<float>(order[k]) - static_cast<float>(count) / 2 + 0.5f);
    return values;
}

inline constexpr float difference_step = 0.0078125f;  // a power of two: x + step - x is exact

struct Check {
    Layer& layer;
    std::size_t count;
    std::vector<float> input;
    std::vector<float> parameters;
    std::vector<float> output_weights = {};
    std::optional<std::uint64_t> chance = {};

    std::size_t output_elements() const { return count * layer.output_shape().element_count(); }

    double value() {
        std::vector<float> output(output_elements(), 1e30f);  // forward must overwrite all of it
        layer.forward({count, parameters, input, output, nullptr, chance});
        double sum = 0;
        for (std::size_t k = 0; k < output.size(); ++k)
            sum += static_cast<double>(output_weights[k]) * output[k];
        return sum;
    }

    /// Compares `derivative` with central differences in each of `values`.
    void compare(std::vector<float>& values, const std::vector<float>& derivative,
                 const std::string& name) {
        for (std::size_t k = 0; k < values.size(); ++k) {
            const float original = values[k];
            values[k] = original + difference_step;
            const double above = value();
            values[k] = original - difference_step;
            const double below = value();
            values[k] = original;
            const double expected = (above - below) / (2.0 * difference_step);
            INFO(name << "[" << k << "]");
            REQUIRE(std::fabs(derivative[k] - expected) <= 2e-3 * (1 + std::fabs(expected)));
        }
    }

    void run() {
        output_weights = random_values(output_elements(), 99);
        std::vector<float> output(output_elements());
        layer.forward({count, parameters, input, output, nullptr, chance});
        std::vector<float> parameter_gradient(parameters.size(), 1e30f);
        std::vector<float> input_gradient(input.size(), 1e30f);
        const BackwardPass pass{count,          parameters,     input,
                                output,         output_weights, parameter_gradient,
                                input_gradient, nullptr,        chance};
        layer.backward(pass);
        compare(input, input_gradient, "input");
        compare(parameters, parameter_gradient, "parameter");

        // Without the gradient of the input, that of the parameters is the same.
        std::vector<float> again(parameters.size(), 1e30f);
        layer.backward(
            {count, parameters, input, output, output_weights, again, {}, nullptr, chance});
        CHECK(again == parameter_gradient);

        // What it says is complete is not touched any more, and it is all of its own, once.
        std::vector<float> then(parameters.size());
        std::size_t completed = 0;
        const RangeReady ready = [&](Range range) {
            completed += range.count;
            std::copy_n(&again[range.first], range.count, &then[range.first]);
        };
        std::fill(again.begin(), again.end(), 1e30f);
        layer.backward({count, parameters, input, output, output_weights, again, input_gradient,
                        &ready, chance});
        CHECK(completed == layer.parameters().count);
        CHECK(then == parameter_gradient);
    }
};

}  // namespace ako::test
