// Gradient accumulation: the gradient of a batch in parts is that of the whole, and keeps the
// promises of the seam.
#include "models/accumulation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "gradient_check.h"
#include "models/catalog.h"

namespace ako::accumulation_test {

namespace {

using test::random_values;

struct Example {
    std::unique_ptr<Network> network;
    std::vector<float> parameters, images;
    std::vector<std::uint8_t> labels;

    Example(const ModelSettings& settings, std::size_t count) : network(make_network(settings)) {
        parameters.resize(network->parameter_count());
        network->initialize(1, parameters);
        images = random_values(count * data_shape(settings).image.element_count(), 7);
        for (std::size_t k = 0; k < count; ++k)
            labels.push_back(static_cast<std::uint8_t>(k * 7 % 10));
    }
    Batch batch() const { return {images, labels, labels.size()}; }
    std::vector<float> gradient(Network& of, float& loss) const {
        std::vector<float> result(parameters.size(), 1e30f);
        loss = of.gradient(batch(), parameters, result, nullptr, nullptr);
        return result;
    }
};

ModelSettings named(ModelKind kind) {
    ModelSettings settings;
    settings.kind = kind;
    return settings;
}

}  // namespace

TEST_CASE("accumulation: parts give the gradient and the loss of the whole batch") {
    for (const ModelKind kind : {ModelKind::lenet, ModelKind::cifar_quick, ModelKind::resnet20}) {
        for (const std::size_t count : {24U, 10U}) {
            const Example example(named(kind), count);
            float loss = 0, loss_of_parts = 0;
            const std::vector<float> whole = example.gradient(*example.network, loss);
            float largest = 0;
            for (const float value : whole) largest = std::max(largest, std::fabs(value));
            for (const std::size_t parts : {2U, 3U, 7U}) {
                CAPTURE(parts);
                Accumulation accumulation(make_network(named(kind)), (count + parts - 1) / parts);
                const auto added = example.gradient(accumulation, loss_of_parts);
                float error = 0;
                for (std::size_t k = 0; k < whole.size(); ++k)
                    error = std::max(error, std::fabs(added[k] - whole[k]));
                CHECK(error <= 1e-5f * largest);
                CHECK(loss_of_parts == doctest::Approx(loss).epsilon(1e-5));
            }
        }
    }
}

TEST_CASE("accumulation: parameters are waited for once, and each is ready once, at the end") {
    const Example example(named(ModelKind::mlp), 9);
    Accumulation accumulation(make_network(named(ModelKind::mlp)), 3);
    std::vector<float> gradient(example.parameters.size());
    std::vector<float> when_ready = gradient;
    std::vector<int> waited(gradient.size()), ready(gradient.size());
    accumulation.gradient(
        example.batch(), example.parameters, gradient,
        [&](Range range) {
            for (std::size_t k = 0; k < range.count; ++k) ++waited[range.first + k];
        },
        [&](Range range) {
            for (std::size_t k = range.first; k < range.first + range.count; ++k) {
                ++ready[k];
                when_ready[k] = gradient[k];
            }
        });
    CHECK(std::all_of(waited.begin(), waited.end(), [](int times) { return times == 1; }));
    CHECK(std::all_of(ready.begin(), ready.end(), [](int times) { return times == 1; }));
    CHECK(when_ready == gradient);
}

TEST_CASE("accumulation: norms are those of the parts and of the whole") {
    const Example example(named(ModelKind::mlp), 8);
    Accumulation accumulation(make_network(named(ModelKind::mlp)), 4);
    CHECK(!accumulation.norms());
    float loss = 0;
    const std::vector<float> whole = example.gradient(accumulation, loss);
    const auto squared = [](const std::vector<float>& values) {
        double sum = 0;
        for (const float value : values) sum += static_cast<double>(value) * value;
        return sum;
    };
    double of_parts = 0;
    for (const std::size_t first : {0U, 4U}) {
        std::vector<float> part(whole.size());
        const Batch half{std::span(example.images).subspan(first * 784, 4 * 784),
                         std::span(example.labels).subspan(first, 4), 4};
        example.network->gradient(half, example.parameters, part, nullptr, nullptr);
        of_parts += squared(part) / 2;
    }
    const auto norms = accumulation.norms();
    REQUIRE(norms);
    CHECK(norms->of_part == doctest::Approx(of_parts).epsilon(1e-5));
    CHECK(norms->of_whole == doctest::Approx(squared(whole)).epsilon(1e-5));
    CHECK(norms->samples_of_part == 4);
    CHECK(norms->samples == 8);
}

TEST_CASE("accumulation: samples one by one, and one sample alone") {
    const Example three(named(ModelKind::mlp), 3), one(named(ModelKind::mlp), 1);
    Accumulation accumulation(make_network(named(ModelKind::mlp)), 1);
    float loss = 0;
    three.gradient(accumulation, loss);
    REQUIRE(accumulation.norms());
    CHECK(accumulation.norms()->samples_of_part == 1);
    Accumulation halves(make_network(named(ModelKind::mlp)), 2);
    three.gradient(halves, loss);
    CHECK(halves.norms()->samples_of_part == doctest::Approx(2 / (1.0 + 1.0 / 2)));
    const std::vector<float> whole = one.gradient(*one.network, loss);
    CHECK(one.gradient(accumulation, loss) == whole);
    CHECK(!accumulation.norms());
}

TEST_CASE("accumulation: who skips rounds draws the same dropout as who makes them") {
    LayerSettings dropout{LayerKind::dropout};
    dropout.rate = 0.5;
    ModelSettings settings;
    settings.input = {1, 1, 20};
    settings.layers = {{LayerKind::dense, 30}, dropout, {LayerKind::dense, 10}};
    const Example example(settings, 6);
    Accumulation whole(make_network(settings), 2), later(make_network(settings), 2);
    float loss = 0;
    for (int round = 0; round < 2; ++round) example.gradient(whole, loss);
    later.skip(2, 6);
    CHECK(example.gradient(later, loss) == example.gradient(whole, loss));
}

}  // namespace ako::accumulation_test
