// The networks of the catalog: against golden values from NumPy (tests/golden), and
// the promises of the seam to the training loop.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "golden_pattern.h"
#include "models/catalog.h"
#include "tests/in_source.h"

namespace ako::networks_test {

namespace {

using test::pattern;

bool is_factors(const Tensor& tensor) {
    return tensor.shape.size() == 1 && tensor.name.ends_with(".weight");
}

float scale(const Tensor& tensor) {
    if (tensor.shape.size() == 1) return 0.125f;
    const auto inputs = static_cast<float>(tensor.element_count() / tensor.shape[0]);
    float value = 1;
    while (value * value * inputs > 4) value /= 2;
    return value;
}

struct Example {
    std::unique_ptr<Network> network;
    std::size_t image_elements;
    std::vector<float> parameters, images;
    std::vector<std::uint8_t> labels;

    Example(ModelKind kind, std::size_t count) {
        ModelSettings settings;
        settings.kind = kind;
        network = make_network(settings);
        image_elements = data_shape(settings).image.element_count();
        parameters.resize(network->parameter_count());
        for (const Tensor& tensor : network->tensors())
            for (std::size_t k = 0; k < tensor.element_count(); ++k)
                parameters[tensor.first + k] =
                    scale(tensor) * pattern(tensor.first + k) + (is_factors(tensor) ? 1.0f : 0.0f);
        images.resize(count * image_elements);
        for (std::size_t k = 0; k < images.size(); ++k) images[k] = 2 * pattern(1'000'003 + k);
        labels.resize(count);
        for (std::size_t k = 0; k < count; ++k) labels[k] = static_cast<std::uint8_t>(k * 7 % 10);
    }

    Batch batch(std::size_t first, std::size_t count) const {
        return {std::span(images).subspan(first * image_elements, count * image_elements),
                std::span(labels).subspan(first, count), count};
    }
    Batch batch() const { return batch(0, labels.size()); }

    std::vector<float> gradient(const Batch& of, float* loss = nullptr) {
        std::vector<float> result(parameters.size(), 1e30f);
        const float value = network->gradient(of, parameters, result, nullptr, nullptr);
        if (loss != nullptr) *loss = value;
        return result;
    }
};

/// Errors up to `tolerance` times the expected value and what it is made of.
bool close_to(double value, double expected, double magnitude, double tolerance = 2e-5) {
    return std::fabs(value - expected) <= tolerance * (magnitude + std::fabs(expected));
}

struct Golden {
    std::string file = "tests/golden/layers.txt";
    double of_gradient = 2e-5;  ///< the tolerance
};

void compare_with_golden(const std::string& name, ModelKind kind, const Golden& golden = {}) {
    Example example(kind, 3);
    float loss = 0;
    const auto gradient = example.gradient(example.batch(), &loss);
    const auto& tensors = example.network->tensors();
    std::ifstream file(test::in_source(golden.file));
    REQUIRE(file);
    std::string network, what;
    std::size_t index = 0, seen = 0;
    double expected = 0;
    while (file >> network >> what >> index >> expected) {
        if (network != name) continue;
        ++seen;
        CAPTURE(what);
        CAPTURE(index);
        CAPTURE(expected);
        if (what == "loss") {
            CHECK(close_to(loss, expected, 0));
        } else if (what == "class_loss") {
            example.labels[index / 10] = static_cast<std::uint8_t>(index % 10);
            const Evaluation one =
                example.network->evaluate(example.batch(index / 10, 1), example.parameters);
            CHECK(close_to(one.loss_sum, expected, 0));
        } else if (what == "gradient") {
            CHECK(close_to(gradient[index], expected, 0.05, golden.of_gradient));
        } else {
            const std::string tensor_name = what.substr(0, what.rfind('.'));
            const auto tensor = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) {
                return t.name == tensor_name;
            });
            REQUIRE(tensor != tensors.end());
            double sum = 0, squares = 0;
            for (std::size_t k = 0; k < tensor->element_count(); ++k) {
                const double value = gradient[tensor->first + k];
                sum += value;
                squares += value * value;
            }
            if (what.ends_with(".norm"))
                CHECK(close_to(std::sqrt(squares), expected, 0));
            else
                CHECK(close_to(sum, expected, std::sqrt(squares)));
        }
    }
    CHECK(seen > 80);
}

TEST_CASE("mlp: loss and gradient agree with NumPy") { compare_with_golden("mlp", ModelKind::mlp); }

TEST_CASE("lenet: loss and gradient agree with NumPy") {
    compare_with_golden("lenet", ModelKind::lenet);
}

TEST_CASE("cifar-quick: loss and gradient agree with NumPy") {
    compare_with_golden("cifar-quick", ModelKind::cifar_quick);
}

TEST_CASE("resnet20: loss and gradient agree with NumPy") {
    // Twenty layers deep, what float32 rounds off has grown to 2e-4: as much as a gradient changes
    // in float64 where one parameter does by 1e-6.
    compare_with_golden("resnet20", ModelKind::resnet20, {"tests/golden/parts.txt", 3e-4});
}

TEST_CASE("networks: number, names and places of the parameters") {
    const Example lenet(ModelKind::lenet, 1);
    CHECK(lenet.network->parameter_count() == 431'080);
    const Example mlp(ModelKind::mlp, 1);
    CHECK(mlp.network->parameter_count() == 101'770);
    CHECK(Example(ModelKind::cifar_quick, 1).network->parameter_count() == 145'578);
    // 269,722 without biases of the convolutions, with two numbers for each channel normalised.
    const Example resnet(ModelKind::resnet20, 1);
    CHECK(resnet.network->parameter_count() == 269'722 + 7 * 16 + 6 * 32 + 6 * 64);
    CHECK(resnet.network->tensors().size() == 2 * (19 + 19 + 1));
    CHECK(resnet.network->tensors()[74].name == "group_norm19.weight");
    std::size_t next = 0;
    for (const Tensor& tensor : lenet.network->tensors()) {
        CHECK(tensor.first == next);
        next += tensor.element_count();
    }
    CHECK(next == 431'080);
    REQUIRE(lenet.network->tensors().size() == 8);
    CHECK(lenet.network->tensors()[2].name == "conv2.weight");
    CHECK(lenet.network->tensors()[2].shape == std::vector<std::size_t>{50, 20, 5, 5});
}

TEST_CASE("networks: await comes layer by layer from the first, ready from the last") {
    Example example(ModelKind::lenet, 2);
    std::vector<Range> awaited, finished;
    std::vector<float> gradient(example.parameters.size(), 1e30f), copied(gradient.size(), 1e30f);
    // Parameters that are not awaited yet are not current: here, NaN. A gradient is copied away at
    // the moment it is said to be finished.
    std::vector<float> parameters(gradient.size(), std::nanf(""));
    example.network->gradient(
        example.batch(), parameters, gradient,
        [&](Range range) {
            CHECK(finished.empty());
            awaited.push_back(range);
            std::copy_n(example.parameters.begin() + static_cast<std::ptrdiff_t>(range.first),
                        range.count, parameters.begin() + static_cast<std::ptrdiff_t>(range.first));
        },
        [&](Range range) {
            finished.push_back(range);
            std::copy_n(gradient.begin() + static_cast<std::ptrdiff_t>(range.first), range.count,
                        copied.begin() + static_cast<std::ptrdiff_t>(range.first));
            // Parameters whose gradient is finished may be changed.
            std::fill_n(parameters.begin() + static_cast<std::ptrdiff_t>(range.first), range.count,
                        std::nanf(""));
        });
    const std::vector<Range> layers{{0, 520}, {520, 25'050}, {25'570, 400'500}, {426'070, 5'010}};
    // A layer may go through its parameters in pieces, forward and backward.
    const auto order = [&layers](const std::vector<Range>& pieces) {
        std::vector<std::size_t> visited, elements(layers.size());
        for (const Range& piece : pieces) {
            std::size_t layer = layers.size() - 1;
            while (piece.first < layers[layer].first) --layer;
            if (visited.empty() || visited.back() != layer) visited.push_back(layer);
            elements[layer] += piece.count;
        }
        for (std::size_t layer = 0; layer < layers.size(); ++layer)
            CHECK(elements[layer] == layers[layer].count);
        return visited;
    };
    CHECK(awaited.size() > layers.size());
    CHECK(order(awaited) == std::vector<std::size_t>{0, 1, 2, 3});
    CHECK(order(finished) == std::vector<std::size_t>{3, 2, 1, 0});
    CHECK(copied == gradient);
    CHECK(gradient == example.gradient(example.batch()));
}

TEST_CASE(
    "networks: a batch of any size, growing and shrinking, gives what a fresh network gives") {
    Example used(ModelKind::lenet, 13);
    for (const std::size_t count : {2u, 13u, 1u, 5u}) {
        Example fresh(ModelKind::lenet, 13);
        float loss = 0, fresh_loss = 0;
        const auto gradient = used.gradient(used.batch(0, count), &loss);
        CHECK(gradient == fresh.gradient(fresh.batch(0, count), &fresh_loss));
        CHECK(loss == fresh_loss);
        const Evaluation evaluation = used.network->evaluate(used.batch(0, count), used.parameters);
        CHECK(evaluation.count == count);
        CHECK(static_cast<float>(evaluation.loss_sum / static_cast<double>(count)) == loss);
    }
}

TEST_CASE("networks: slices of an evaluation add up") {
    Example example(ModelKind::lenet, 10);
    const Evaluation whole = example.network->evaluate(example.batch(), example.parameters);
    const Evaluation head = example.network->evaluate(example.batch(0, 7), example.parameters);
    const Evaluation tail = example.network->evaluate(example.batch(7, 3), example.parameters);
    CHECK(head.loss_sum + tail.loss_sum == doctest::Approx(whole.loss_sum));
    CHECK(head.correct + tail.correct == whole.correct);
}

TEST_CASE("networks: training on one batch lowers its loss to nothing") {
    for (const ModelKind kind : {ModelKind::mlp, ModelKind::lenet}) {
        Example example(kind, 8);
        example.network->initialize(1, example.parameters);
        float loss = 0;
        for (int round = 0; round < 60; ++round) {
            const auto gradient = example.gradient(example.batch(), &loss);
            if (round == 0) CHECK(loss == doctest::Approx(std::log(10.0)).epsilon(0.3));
            for (std::size_t k = 0; k < gradient.size(); ++k)
                example.parameters[k] -= 0.1f * gradient[k];
        }
        CHECK(loss < 0.05f);
        CHECK(example.network->evaluate(example.batch(), example.parameters).correct == 8);
    }
}

TEST_CASE("networks: parameters that are not finite give a loss that is not") {
    Example example(ModelKind::lenet, 2);
    example.parameters[100] = std::nanf("");
    float loss = 0;
    example.gradient(example.batch(), &loss);
    CHECK_FALSE(std::isfinite(loss));
}

}  // namespace
}  // namespace ako::networks_test
