// The list of layers in the cluster file: what is read, what is written, and the place and words of
// every complaint.
#include "src/config/layer_fields.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ako/error.h"
#include "complaint.h"
#include "src/config/cluster_file.h"
#include "tests/contains.h"

namespace ako::layer_fields_test {

using ako::test::contains;

namespace {

const std::string head = R"(run: own
data: {path: data}
peers: [{name: a, address: "127.0.0.1:7701"}]
)";

/// A file whose list begins on line 7.
std::string with_layers(const std::string& layers) {
    return head + "model:\n  input: [28, 28, 1]\n  layers:\n" + layers;
}

constexpr const char* file = "c.yaml";

Settings read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return read_cluster_text(text, file, overrides);
}

std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return test::complaint(text, file, overrides);
}

const std::string all_kinds = R"(    - conv: {outputs: 20, window: 5, padding: 2}
    - max_pool: {window: 3, stride: 2}
    - relu
    - conv: {outputs: 4, window: 3, stride: 2, padding: 1, padding_mode: reflect}
    - max_pool: 2
    - group_norm: 2
    - residual:
        layers:
          - conv: {outputs: 8, window: 3, padding: 1}
          - residual: [relu]
        shortcut: [{conv: {outputs: 8, window: 1}}]
    - subsample: {stride: 2, outputs: 9}
    - dropout: 0.25
    - global_average_pool
    - flatten
    - dense: {outputs: 500}
    - relu:
    - dense: 10
)";

}  // namespace

TEST_CASE("layers: every kind, with its defaults and its short form") {
    const ModelSettings model = read(with_layers(all_kinds)).model;
    CHECK(model.kind == ModelKind::layers);
    CHECK(model.input == Shape{28, 28, 1});
    LayerSettings group_norm{LayerKind::group_norm};
    group_norm.groups = 2;
    LayerSettings dropout{LayerKind::dropout};
    dropout.rate = 0.25;
    LayerSettings inner{LayerKind::residual}, residual{LayerKind::residual};
    inner.layers = {{LayerKind::relu}};
    residual.layers = {{LayerKind::conv, 8, 3, 1, 1}, inner};
    residual.shortcut = {{LayerKind::conv, 8, 1, 1, 0}};
    const std::vector<LayerSettings> expected = {
        {LayerKind::conv, 20, 5, 1, 2},
        {LayerKind::max_pool, 0, 3, 2, 0},
        {LayerKind::relu},
        {LayerKind::conv, 4, 3, 2, 1, PaddingMode::reflect},
        {LayerKind::max_pool, 0, 2, 2},
        group_norm,
        residual,
        {LayerKind::subsample, 9, 0, 2},
        dropout,
        {LayerKind::global_average_pool},
        {LayerKind::flatten},
        {LayerKind::dense, 500},
        {LayerKind::relu},
        {LayerKind::dense, 10}};
    CHECK(model.layers == expected);
    CHECK(model.layers[1].place.text == "c.yaml:8:7: model.layers.1.max_pool");
    CHECK(model.layers[2].place.text == "c.yaml:9:7: model.layers.2.relu");
    CHECK(model.layers[6].layers[1].layers[0].place.text ==
          "c.yaml:16:24: model.layers.6.residual.layers.1.residual.0.relu");
}

TEST_CASE("layers: written with all keys, and read back as the same") {
    const Settings settings = read(with_layers(all_kinds));
    const std::string text = write_cluster_text(settings);
    CHECK(contains(text,
                   "  input: [28, 28, 1]\n  layers:\n    - conv: {outputs: 20, window: 5, "
                   "stride: 1, padding: 2}\n"));
    CHECK(contains(text, "\n    - dense: {outputs: 10}\n"));
    CHECK(contains(text, "stride: 2, padding: 1, padding_mode: reflect}\n"));
    CHECK(contains(
        text,
        "\n    - residual:\n        layers:\n          - conv: {outputs: 8, window: 3, "
        "stride: 1, padding: 1}\n          - residual:\n              layers:\n"
        "                - relu\n        shortcut:\n          - conv: {outputs: 8, window: "
        "1, stride: 1, padding: 0}\n    - subsample: {stride: 2, outputs: 9}\n"));
    CHECK_FALSE(text.find("name: lenet") != std::string::npos);
    CHECK(read_cluster_text(text, "c.yaml", {}) == settings);
}

TEST_CASE("layers: they are part of what peers must share") {
    const std::string text = training_digest_text(read(with_layers(all_kinds)));
    for (const char* change :
         {"model.input=[28,28,3]", "model.layers.0.conv.window=3",
          "model.layers.1.max_pool.stride=1", "model.layers.5.group_norm=4",
          "model.layers.11.dense=501", "model.layers.3.conv.padding_mode=zeros",
          "model.layers.8.dropout=0.3", "model.layers.6.residual.layers.0.conv.window=1",
          "model.layers.6.residual.shortcut=[relu]"}) {
        CAPTURE(change);
        CHECK(training_digest_text(read(with_layers(all_kinds), {change})) != text);
    }
    CHECK(training_digest_text(read(with_layers(all_kinds), {"model.initial=m.safetensors"})) ==
          text);
}

TEST_CASE("layers: a name on the command line takes the place of the list") {
    const ModelSettings model = read(with_layers(all_kinds), {"model=cifar-quick"}).model;
    CHECK(model.kind == ModelKind::cifar_quick);
    CHECK(model.layers.empty());
}

TEST_CASE("layers: complaints have a place, what was expected and what was found") {
    CHECK(complaint(with_layers("    - relu\n    - pool: 2\n")) ==
          "c.yaml:8:7: model.layers.1: expected one of the layers conv, max_pool, "
          "global_average_pool, group_norm, relu, residual, subsample, dropout, flatten, dense, "
          "found pool "
          "(did you mean "
          "max_pool?)");
    CHECK(contains(complaint(with_layers("    - softmax\n")), "come by themselves"));
    CHECK(complaint(with_layers("    - conv: {outputs: 3, windows: 5}\n")) ==
          "c.yaml:7:26: model.layers.0.conv.windows: expected no key but outputs, window, stride, "
          "padding, padding_mode, found it (did you mean window?)");
    CHECK(contains(complaint(with_layers("    - conv: {outputs: 3}\n")),
                   "c.yaml:7:13: model.layers.0.conv.window: expected a whole number from 1 to"));
    CHECK(contains(complaint(with_layers("    - conv: 3\n")), "expected `conv: {outputs: 20"));
    CHECK(contains(complaint(with_layers("    - conv\n")), "expected `conv: {outputs: 20"));
    CHECK(contains(complaint(with_layers("    - max_pool: 257\n")), "from 1 to 256, found 257"));
    CHECK(contains(complaint(with_layers("    - dense\n")), "expected `dense: 10`, found nothing"));
    CHECK(contains(complaint(with_layers("    - dense: 0\n")),
                   "c.yaml:7:14: model.layers.0.dense: expected a whole number from 1 to 1000000"));
    CHECK(contains(complaint(with_layers("    - dense: {outputs: ten}\n")), "found ten"));
    CHECK(contains(complaint(with_layers("    - max_pool: {window: 2, stride: 0}\n")),
                   "model.layers.0.max_pool.stride: expected a whole number from 1"));
    CHECK(contains(complaint(with_layers("    - conv: {outputs: 1, window: 3, padding: -1}\n")),
                   "model.layers.0.conv.padding: expected a whole number from 0"));
    CHECK(
        complaint(with_layers("    - conv: {outputs: 1, window: 3, padding_mode: replicated}\n")) ==
        "c.yaml:7:51: model.layers.0.conv.padding_mode: expected zeros, replicate or reflect, "
        "found replicated (did you mean replicate?)");
    CHECK(contains(complaint(with_layers("    - relu: 3\n")), "expected `relu`, found 3"));
    for (const char* rate : {"0", "1", "-0.1", "half"}) {
        CHECK(contains(complaint(with_layers(std::string("    - dropout: ") + rate + "\n")),
                       "model.layers.0.dropout: expected a number above 0 and below 1, found"));
    }
    CHECK(contains(complaint(with_layers("    - residual\n")),
                   "expected `residual: {layers: [...]}`, found nothing"));
    CHECK(contains(complaint(with_layers("    - residual: {shortcut: [relu]}\n")),
                   "model.layers.0.residual.layers: expected a list of layers, found nothing"));
    CHECK(contains(complaint(with_layers("    - residual: []\n")),
                   "c.yaml:7:17: model.layers.0.residual: expected a list of 1 to 128 layers"));
    CHECK(contains(complaint(with_layers("    - residual: {layers: relu}\n")),
                   "model.layers.0.residual.layers: expected a list of 1 to 128 layers"));
    CHECK(contains(complaint(with_layers("    - residual: {layers: [relu], shortcut: [pool]}\n")),
                   "c.yaml:7:45: model.layers.0.residual.shortcut.0: expected one of the layers"));
    CHECK(contains(complaint(with_layers("    - residual: {layers: [relu], short_cut: [relu]}\n")),
                   "no key but layers, shortcut, found it (did you mean shortcut?)"));
    CHECK(contains(complaint(with_layers("    - {relu: , flatten: }\n")), "expected one layer"));
    CHECK(contains(complaint(with_layers("    - [relu]\n")), "expected one layer"));
    CHECK(contains(complaint(with_layers("    []\n")), "a list of 1 to 128 layers"));
    CHECK(contains(complaint(with_layers("    relu\n")), "a list of 1 to 128 layers"));
    std::string many;
    for (int k = 0; k < 129; ++k) many += "    - relu\n";
    CHECK(contains(complaint(with_layers(many)), "found a list of 129"));
}

TEST_CASE("layers: the input has three extents, and neither stands without the other") {
    const std::string layers = "  layers: [{dense: 10}]\n";
    for (const char* input : {"[28, 28]", "28", "[28, 28, 0]", "[28, 28, 1.5]", "[5000, 1, 1]"}) {
        CAPTURE(input);
        CHECK(contains(complaint(head + "model:\n  input: " + input + "\n" + layers),
                       "model.input: expected [height, width, channels]"));
    }
    CHECK(contains(complaint(head + "model:\n" + layers), "model.input: expected"));
    CHECK(contains(complaint(head + "model:\n  input: [1, 1, 1]\n"), "model.name: expected mlp"));
    CHECK(contains(complaint(head + "model: {}\n"), "model.name: expected mlp"));
    CHECK(contains(complaint(head), "model: expected the name of a network or a list"));
    CHECK(contains(complaint(with_layers("    - dense: 10\n") + "  name: lenet\n"),
                   "model.name: expected it only with neither model.input nor model.layers"));
    CHECK(contains(complaint(head + "model: {name: synthetic, input: [1, 1, 1]}\n"), "model.name"));
}

}  // namespace ako::layer_fields_test
