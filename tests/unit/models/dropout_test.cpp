// Dropout: what is taken and what is left, that both passes take the same, that evaluation takes
// nothing, and that a network draws anew in each round and can be taken up again.
#include "models/dropout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "gradient_check.h"
#include "models/catalog.h"

namespace ako::dropout_test {

namespace {

using test::Check;
using test::random_values;

std::vector<float> dropped(Dropout& layer, const std::vector<float>& input,
                           std::optional<std::uint64_t> chance) {
    std::vector<float> output(input.size(), 1e30f);
    const std::size_t count = input.size() / layer.output_shape().element_count();
    layer.forward({count, {}, input, output, nullptr, chance});
    return output;
}

TEST_CASE("dropout: its share becomes 0, the rest is scaled, and the mean stays") {
    const std::vector<float> ones(40'000, 1.0f);
    for (const double rate : {0.1, 0.5, 0.9}) {
        CAPTURE(rate);
        Dropout layer({1, 1, 1'000}, rate, 1);
        const auto output = dropped(layer, ones, 5);
        double sum = 0, zeros = 0;
        for (const float value : output) {
            const bool kept = std::fabs(value - 1 / (1 - rate)) < 1e-3;
            REQUIRE((kept || value == 0));
            zeros += value == 0 ? 1 : 0;
            sum += value;
        }
        CHECK(zeros / 40'000 == doctest::Approx(rate).epsilon(0.02));
        CHECK(sum / 40'000 == doctest::Approx(1).epsilon(0.03));
    }
}

TEST_CASE("dropout: gradients agree with differences at the same draw") {
    Dropout layer({2, 3, 3}, 0.4, 1);
    Check check{layer, 3, random_values(54, 30), {}};
    check.chance = 9;
    check.run();
    check.chance.reset();  // evaluation: all as it is
    check.run();
}

TEST_CASE("dropout: another draw, another layer and another place take other values") {
    const std::vector<float> ones(500, 1.0f);
    Dropout first({1, 1, 500}, 0.5, 1), second({1, 1, 500}, 0.5, 2), short_one({1, 1, 250}, 0.5, 1);
    const auto taken = dropped(first, ones, 5);
    CHECK(taken == dropped(first, ones, 5));
    CHECK(taken != dropped(first, ones, 6));
    CHECK(taken != dropped(second, ones, 5));
    CHECK(taken == dropped(short_one, ones, 5));  // images one after the other
    CHECK(!std::equal(taken.begin(), taken.begin() + 250, taken.begin() + 250));
    CHECK(dropped(first, ones, {}) == ones);
}

TEST_CASE("dropout: the same values are taken for ever, and a NaN is not hidden") {
    Dropout layer({1, 1, 12}, 0.5, 1);
    const auto output = dropped(layer, std::vector<float>(12, 1.0f), 5);
    CHECK(output == std::vector<float>{0, 2, 0, 0, 2, 2, 0, 2, 0, 2, 2, 0});
    for (const float value : dropped(layer, std::vector<float>(12, std::nanf("")), 5))
        CHECK(std::isnan(value));
}

/// A network of two dense layers, a residual with a dropout inside it, and another at the end.
std::unique_ptr<Network> network(std::uint64_t noise_seed) {
    LayerSettings dropout{LayerKind::dropout}, residual{LayerKind::residual};
    dropout.rate = 0.5;
    residual.layers = {dropout};
    ModelSettings settings;
    settings.input = {1, 1, 20};
    settings.layers = {
        {LayerKind::dense, 30}, residual, {LayerKind::relu}, dropout, {LayerKind::dense, 4}};
    return make_network(settings, noise_seed);
}

struct Example {
    std::vector<float> images = random_values(5 * 20, 31);
    std::vector<std::uint8_t> labels{0, 1, 2, 3, 0};
    std::vector<float> parameters;

    explicit Example(const Network& of) : parameters(of.parameter_count()) {
        of.initialize(1, parameters);
    }
    Batch batch() const { return {images, labels, 5}; }
    std::vector<float> gradient(Network& of) const {
        std::vector<float> result(parameters.size());
        of.gradient(batch(), parameters, result, nullptr, nullptr);
        return result;
    }
};

TEST_CASE("dropout: a network draws anew in each round, and who skips rounds draws the same") {
    const auto whole = network(3), again = network(3), later = network(3), other = network(4);
    const Example example(*whole);
    std::vector<std::vector<float>> gradients;
    for (int round = 0; round < 5; ++round) {
        gradients.push_back(example.gradient(*whole));
        // An evaluation between two rounds changes nothing.
        if (round % 2 == 0) again->evaluate(example.batch(), example.parameters);
        CHECK(example.gradient(*again) == gradients.back());
    }
    CHECK(gradients[0] != gradients[1]);
    CHECK(example.gradient(*other) != gradients[0]);
    later->skip(3, 1);
    CHECK(example.gradient(*later) == gradients[3]);
    CHECK(example.gradient(*later) == gradients[4]);
}

TEST_CASE("dropout: evaluation and scores take nothing, in any round") {
    const auto one = network(3), other = network(4);
    const Example example(*one);
    const Evaluation before = one->evaluate(example.batch(), example.parameters);
    example.gradient(*one);
    const Evaluation after = one->evaluate(example.batch(), example.parameters);
    const Evaluation elsewhere = other->evaluate(example.batch(), example.parameters);
    CHECK(before.loss_sum == after.loss_sum);
    CHECK(before.loss_sum == elsewhere.loss_sum);
    const auto scores = one->scores(example.batch(), example.parameters);
    const std::vector<float> kept(scores.begin(), scores.end());
    const auto again = other->scores(example.batch(), example.parameters);
    CHECK(std::equal(kept.begin(), kept.end(), again.begin(), again.end()));
}

}  // namespace
}  // namespace ako::dropout_test
