// Layers for the strategies: shapes and windows of settings, seconds of a gradient's steps.
#include "src/predict/strategy_layers.h"

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

namespace ako::strategy_layers_test {

namespace {

constexpr auto await = GradientStep::Kind::await;
constexpr auto ready = GradientStep::Kind::ready;

/// Of a convolution of 3 x 3 from 1 to 2 channels, a pool, a flatten and a dense layer of 4 classes
/// that comes in two pieces. Seconds of a sample: forward 1 before all, 30 the convolution and the
/// pool, 6 the dense layer and 3 of the step into the backward pass; backward 6 of that step, then
/// 12, and 60 the convolution and the pool.
GradientProfile gradient(std::size_t batch) {
    const auto s = static_cast<double>(batch);
    return {batch,
            118 * s,
            118 * s,
            0,
            {{await, {0, 20}, 1 * s},
             {await, {20, 16}, 30 * s},
             {await, {36, 16}, 4 * s},
             {await, {52, 4}, 2 * s},
             {ready, {52, 4}, 9 * s},
             {ready, {20, 16}, 5 * s},
             {ready, {36, 16}, 7 * s},
             {ready, {0, 20}, 56 * s},
             {GradientStep::Kind::end, {}, 4 * s}}};
}

ModelSettings model() {
    ModelSettings made;
    made.input = {4, 4, 1};
    made.layers = {{LayerKind::conv, 2, 3, 1, 1},
                   {LayerKind::max_pool, 0, 2, 2},
                   {LayerKind::flatten},
                   {LayerKind::dense, 4}};
    return made;
}

std::vector<StrategyLayer> timed(std::size_t batch, double slower = 1) {
    MachineProfile profile;
    profile.gradients = {gradient(2), gradient(8)};
    std::vector<StrategyLayer> layers = strategy_layers(model());
    set_seconds(layers, profile, batch, slower);
    return layers;
}

double seconds(const std::vector<StrategyLayer>& layers, PassTime StrategyLayer::*pass) {
    return std::accumulate(
        layers.begin(), layers.end(), 0.0,
        [&](double sum, const StrategyLayer& layer) { return sum + (layer.*pass).whole_s; });
}

}  // namespace

TEST_CASE("layers follow the settings") {
    const std::vector<StrategyLayer> layers = strategy_layers(model());
    REQUIRE(layers.size() == 4);
    CHECK(layers[0].name == "conv1");
    CHECK(layers[0].input == Shape{4, 4, 1});
    CHECK(layers[0].output == Shape{4, 4, 2});
    CHECK(layers[0].parameter_count == 20);
    CHECK(layers[0].mixes);
    CHECK(layers[0].window == 3);
    CHECK(layers[0].padding == 1);
    CHECK(layers[1].output == Shape{2, 2, 2});
    CHECK(layers[1].stride == 2);
    CHECK_FALSE(layers[1].mixes);
    CHECK(layers[2].window == 0);
    CHECK(layers[3].input == Shape{1, 1, 8});
    CHECK(layers[3].parameter_count == 36);
    CHECK(layers[3].window == 0);
}

TEST_CASE("a residual's layers, its shortcut's and the sum, and what passes each by") {
    ModelSettings settings = model();
    LayerSettings residual{LayerKind::residual};
    residual.layers = {{LayerKind::conv, 4, 3, 2, 1}, {LayerKind::relu}};
    residual.shortcut = {{LayerKind::subsample, 4, 0, 2}};
    settings.layers.insert(settings.layers.begin() + 1, residual);
    const std::vector<StrategyLayer> layers = strategy_layers(settings);
    REQUIRE(layers.size() == 8);
    const std::vector<std::string> names = {"conv1",    "conv2",    "relu",    "subsample",
                                            "residual", "max_pool", "flatten", "dense1"};
    const std::vector<std::size_t> beside = {0, 0, 32, 16, 16, 0, 0, 0};
    for (std::size_t l = 0; l < layers.size(); ++l) {
        CAPTURE(l);
        CHECK(layers[l].name == names[l]);
        CHECK(layers[l].beside_count == beside[l]);
    }
    CHECK(layers[3].input == Shape{4, 4, 2});  // the residual's own
    CHECK(layers[4].input == Shape{2, 2, 4});
    CHECK(layers[4].parameter_count == 0);
}

TEST_CASE("steps of a gradient are the layers' seconds") {
    const std::vector<StrategyLayer> layers = timed(8);
    // Operations: 288 of the convolution, 32 of the pool.
    CHECK(layers[0].forward.whole_s == doctest::Approx(8 * 31 * 0.9));
    CHECK(layers[1].forward.whole_s == doctest::Approx(8 * 31 * 0.1));
    CHECK(layers[2].forward.whole_s == 0);
    CHECK(layers[3].forward.whole_s == doctest::Approx(8 * 9));
    CHECK(layers[0].backward.whole_s == doctest::Approx(8 * 60 * 0.9));
    CHECK(layers[1].backward.whole_s == doctest::Approx(8 * 60 * 0.1));
    CHECK(layers[3].backward.whole_s == doctest::Approx(8 * 18));
    CHECK(seconds(layers, &StrategyLayer::forward) + seconds(layers, &StrategyLayer::backward) ==
          doctest::Approx(8 * 118));
    CHECK(seconds(timed(8, 2), &StrategyLayer::forward) == doctest::Approx(2 * 8 * 40));
}

TEST_CASE("parts of the samples take what was measured of so many") {
    const PassTime pass = timed(16).front().forward;
    CHECK(pass.whole_s == doctest::Approx(16 * 31 * 0.9));
    const std::vector<PartTime>& parts = pass.parts[static_cast<std::size_t>(Along::samples)];
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].share == 0.5);
    CHECK(parts[0].seconds == doctest::Approx(8 * 31 * 0.9));
    CHECK(parts[1].share == 0.125);
    CHECK(pass.parts[static_cast<std::size_t>(Along::rows)].empty());
}

TEST_CASE("layers before the first parameters have no backward pass") {
    ModelSettings settings = model();
    settings.layers.insert(settings.layers.begin(), {LayerKind::relu});
    MachineProfile profile;
    profile.gradients = {gradient(8)};
    std::vector<StrategyLayer> layers = strategy_layers(settings);
    set_seconds(layers, profile, 8, 1);
    CHECK(layers[0].forward.whole_s > 0);
    CHECK(layers[0].backward.whole_s == 0);
    CHECK(seconds(layers, &StrategyLayer::backward) == doctest::Approx(8 * 78));
}

}  // namespace ako::strategy_layers_test
