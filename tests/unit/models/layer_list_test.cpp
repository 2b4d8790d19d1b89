// Networks from lists of layers: what fits, what does not and what is said then, and that a named
// network is the list it is printed as.
#include "models/layer_list.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "layer_settings.h"
#include "models/catalog.h"
#include "models/initial.h"
#include "refusal.h"

namespace ako::layer_list_test {

namespace {

using namespace test;

LayerSettings at(LayerSettings layer, const std::string& place) {
    layer.place.text = place;
    return layer;
}

std::vector<std::string> names_of(const LayerList& list) {
    std::vector<std::string> names;
    for (const OutlinedLayer& layer : list.outline) names.push_back(layer.name);
    return names;
}

TEST_CASE("layer list: names, shapes and parameters") {
    const LayerList list = build_layers(
        {9, 8, 2}, {conv(3, 3, 2, 1), relu, max_pool(2, 1), flatten, dense(7), relu, dense(4)});
    CHECK(names_of(list) == std::vector<std::string>{"conv1", "relu", "max_pool", "flatten",
                                                     "dense1", "relu", "dense2"});
    const std::vector<Shape> shapes{{5, 4, 3}, {5, 4, 3}, {4, 3, 3}, {1, 1, 36},
                                    {1, 1, 7}, {1, 1, 7}, {1, 1, 4}};
    REQUIRE(list.layers.size() == shapes.size());
    for (std::size_t k = 0; k < shapes.size(); ++k)
        CHECK(list.layers[k]->output_shape() == shapes[k]);
    CHECK(list.layout.element_count() == 3 * (2 * 9 + 1) + 7 * 37 + 4 * 8);
    CHECK(list.layout.tensors()[2].name == "dense1.weight");
}

TEST_CASE("layer list: a normalisation has a name of its own, and its factors begin at 1") {
    const LayerList list = build_layers(
        {4, 4, 1},
        {conv(4, 3), group_norm(2), relu, {LayerKind::global_average_pool}, dense(2)});
    CHECK(list.outline[1].name == "group_norm1");
    CHECK(list.layers[3]->output_shape() == Shape{1, 1, 4});
    const Tensor& weight = list.layout.tensors()[2];
    CHECK(weight.name == "group_norm1.weight");
    std::vector<float> parameters(list.layout.element_count(), 99);
    initialize_parameters(list.layout.tensors(), 1, parameters);
    for (std::size_t k = 0; k < 4; ++k) {
        CHECK(parameters[weight.first + k] == 1);
        CHECK(parameters[weight.first + 4 + k] == 0);
    }
}

TEST_CASE("layer list: layers inside a residual are counted on, and shown after it") {
    const LayerList list = build_layers(
        {8, 8, 2},
        {conv(4, 3, 1, 1),
         residual({conv(6, 3, 2, 1), group_norm(2), residual({conv(6, 1), relu})}, {conv(6, 1, 2)}),
         relu, flatten, dense(3)});
    CHECK(names_of(list) == std::vector<std::string>{"conv1", "residual", "conv2", "group_norm1",
                                                     "residual", "conv3", "relu", "conv4", "relu",
                                                     "flatten", "dense1"});
    CHECK(list.layers.size() == 5);
    CHECK(list.outline[0].parameter_count == 4 * 19);
    CHECK(list.outline[1].output == Shape{4, 4, 6});
    CHECK(list.outline[1].parameter_count == 0);  // those inside it have them
    CHECK(list.outline[7].parameter_count == 6 * 5);
    CHECK(list.layers[1]->parameters() == Range{76, 6 * 37 + 12 + 6 * 7 + 6 * 5});
    CHECK(list.layout.tensors().back().name == "dense1.bias");
    // For one image it holds the outputs of the body's first two layers, of the inner residual's
    // convolution and body, of the body and of the shortcut; in training also twice the largest
    // output inside the body, the same of the inner residual, and the gradient of the input.
    const HeldNumbers held = list.layers[1]->held_per_image();
    CHECK(held.always == 6 * 96);
    CHECK(held.backward == 2 * 96 + 2 * 96 + 256);
}

TEST_CASE("layer list: what does not fit is named with its place, its input and a remedy") {
    const auto refused = [](Shape input, const std::vector<LayerSettings>& layers,
                            const std::vector<std::string>& texts) {
        test::check_refused([&] { build_layers(input, layers); }, "c.yaml:7:5: here", texts);
    };
    const std::string here = "c.yaml:7:5: here";
    refused({8, 8, 1}, {conv(2, 5), at(conv(2, 5), here), dense(2)},
            {"window of 5", "4 x 4 x 2", "padding"});
    refused({8, 8, 1}, {at(max_pool(9, 1), here)}, {"window of 9", "8 x 8 x 1"});
    refused({8, 8, 1}, {at(max_pool(2, 3), here)}, {"stride of 3", "at most the window"});
    refused({8, 8, 1}, {at(conv(1, 3, 1, 3), here)}, {"padding of 3", "below the window"});
    LayerSettings reflecting = conv(1, 5, 1, 4);
    reflecting.padding_mode = PaddingMode::reflect;
    refused({4, 8, 1}, {at(reflecting, here)}, {"no 4 pixels to reflect", "replicate"});
    refused({8, 8, 6}, {at(group_norm(4), here)}, {"6 channels", "4 groups", "divide"});
    refused({8, 8, 4},
            {conv(4, 3), {LayerKind::global_average_pool}, at(group_norm(4), here), dense(2)},
            {"one value", "fewer groups"});
    refused({8, 8, 6}, {at({LayerKind::subsample, 4, 0, 2}, here), flatten, dense(2)},
            {"4 outputs", "6 outputs or more"});
    refused({8, 8, 2}, {at(residual({conv(4, 3, 2, 1)}), here), flatten, dense(2)},
            {"give 4 x 4 x 4", "to which the input cannot", "8 x 8 x 2",
             "`conv: {outputs: 4, window: 1, stride: 2}`"});
    refused({8, 8, 2}, {at(residual({conv(4, 3, 1, 1)}, {conv(3, 1)}), here), flatten, dense(2)},
            {"give 8 x 8 x 4", "the shortcut's 8 x 8 x 3", "`conv: {outputs: 4, window: 1}`"});
    refused({8, 8, 2}, {residual({relu, at(conv(2, 9), here)}), flatten, dense(2)},
            {"window of 9"});
    refused({256, 256, 64}, {at(conv(1, 200), here)}, {"one row", "smaller"});
    refused({8, 8, 3}, {at(dense(2), here)}, {"8 x 8 x 3", "flatten"});
    refused({4096, 4096, 64}, {at(relu, here)}, {"4096 x 4096 x 64", "per image"});
}

TEST_CASE("layer list: the last layer gives the scores of some classes") {
    const auto refused = [](const std::vector<LayerSettings>& layers, const std::string& text) {
        test::check_refused([&] { build_layers({4, 4, 1}, layers); }, text, {"dense: N"});
    };
    refused({conv(2, 3)}, "2 x 2 x 2");
    refused({dense(1)}, "1 x 1 x 1");
    refused({dense(257)}, "2 to 256");
    refused({flatten}, "the scores");
    test::check_refused([] { build_layers({4, 4, 1}, {}); }, "model.layers", {"empty"});
    // A class whose score a ReLU has made 0 learns nothing; accepted without a word before.
    for (const auto& end :
         {std::vector{at(relu, "c.yaml:9:7")}, std::vector{at(relu, "c.yaml:9:7"), flatten}}) {
        std::vector<LayerSettings> layers{dense(5), relu, dense(3)};
        CHECK_NOTHROW(build_layers({4, 4, 1}, layers));
        layers.insert(layers.end(), end.begin(), end.end());
        test::check_refused(
            [&] {
                build_layers({4, 4, 1}, layers);
            },
            "c.yaml:9:7", {"ReLU is the last layer", "leave it out"});
    }
    LayerSettings dropout{LayerKind::dropout};
    dropout.rate = 0.5;
    CHECK_NOTHROW(build_layers({4, 4, 1}, {dropout, dense(3)}));
    test::check_refused(
        [&] {
            build_layers({4, 4, 1}, {dense(3), at(dropout, "c.yaml:9:7")});
        },
        "c.yaml:9:7", {"dropout is the last layer", "before the last"});
    CHECK_NOTHROW(build_layers({4, 4, 1}, {conv(2, 4)}));  // one position is a vector
    CHECK_NOTHROW(build_layers({4, 4, 1}, {dense(256)}));
    CHECK_NOTHROW(build_layers({1, 1, 5}, {dense(2)}));
}

TEST_CASE("layer list: a layer in front of the first with parameters does not disturb it") {
    const auto gradient = [](const std::vector<LayerSettings>& layers) {
        ModelSettings settings;
        settings.input = {3, 3, 1};
        settings.layers = layers;
        const auto network = make_network(settings);
        std::vector<float> parameters(network->parameter_count());
        std::vector<float> result(parameters.size(), 1e30f);
        network->initialize(4, parameters);
        std::vector<float> images(18);
        for (std::size_t k = 0; k < images.size(); ++k) images[k] = static_cast<float>(k % 5);
        const std::vector<std::uint8_t> labels{1, 2};
        network->gradient({images, labels, 2}, parameters, result, nullptr, nullptr);
        return result;
    };
    CHECK(gradient({dense(6), relu, dense(3)}) ==
          gradient({flatten, relu, dense(6), relu, dense(3)}));
}

TEST_CASE("catalog: a named network and the list it stands for are the same network") {
    for (const ModelKind kind :
         {ModelKind::mlp, ModelKind::lenet, ModelKind::cifar_quick, ModelKind::resnet20}) {
        ModelSettings named;
        named.kind = kind;
        const ModelSettings list = written_out(named);
        CHECK(list.kind == ModelKind::layers);
        CHECK(written_out(list) == list);
        const auto first = make_network(named);
        const auto second = make_network(list);
        REQUIRE(first->tensors().size() == second->tensors().size());
        for (std::size_t k = 0; k < first->tensors().size(); ++k) {
            CHECK(first->tensors()[k].name == second->tensors()[k].name);
            CHECK(first->tensors()[k].shape == second->tensors()[k].shape);
        }
    }
}

TEST_CASE("catalog: what networks are fed with, and the memory of their activations") {
    ModelSettings lenet;
    lenet.kind = ModelKind::lenet;
    CHECK(data_shape(lenet).image == Shape{28, 28, 1});
    CHECK(data_shape(lenet).class_count == 10);
    // 784 pixels; 24 x 24 x 20, twice 12 x 12 x 20, 8 x 8 x 50, twice 4 x 4 x 50, 800, twice 500,
    // 10; and two gradients of the largest, and that of the scores.
    const std::size_t outputs = 11'520 + 2 * 2'880 + 3'200 + 2 * 800 + 800 + 2 * 500 + 10;
    CHECK(activation_bytes(lenet, 3, 1) == 3 * 4 * (784 + outputs + 2 * 11'520 + 10));
    CHECK(activation_bytes(lenet, 3, 7) == 4 * (7 * (784 + outputs) + 3 * (2 * 11'520 + 10)));
    ModelSettings synthetic;
    synthetic.kind = ModelKind::synthetic;
    CHECK(activation_bytes(synthetic, 3, 7) == 0);
}

}  // namespace
}  // namespace ako::layer_list_test
