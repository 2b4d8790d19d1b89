#include "models/layer_list.h"

#include <map>
#include <utility>

#include "ako/error.h"
#include "models/average_pool.h"
#include "models/convolution.h"
#include "models/dense.h"
#include "models/flatten.h"
#include "models/group_norm.h"
#include "models/max_pool.h"
#include "models/relu.h"

namespace ako {

namespace {

/// Of one image between two layers, 1 GiB: what is above is a slip. With the limits of the cluster
/// file it also keeps every product of extents in 64 bits.
constexpr std::size_t activations_max = std::size_t{1} << 28;

std::string text_of(const Shape& shape) {
    return std::to_string(shape.height) + " x " + std::to_string(shape.width) + " x " +
           std::to_string(shape.channels);
}

[[noreturn]] void does_not_fit(const LayerSettings& layer, const Shape& input,
                               const std::string& what, const std::string& remedy) {
    throw StartupError(layer.place.text + ": " + what + "; the layer's input is " + text_of(input) +
                           " (height x width x channels)",
                       remedy);
}

void check_window(const LayerSettings& layer, const Shape& input) {
    const auto extent = [&](std::size_t side) { return side + 2 * layer.padding; };
    if (layer.window > extent(input.height) || layer.window > extent(input.width))
        does_not_fit(layer, input,
                     "a window of " + std::to_string(layer.window) + " does not fit into it",
                     layer.kind == LayerKind::conv
                         ? "make the window smaller, add padding, or pool less before it"
                         : "make the window smaller, or pool less before it");
    if (layer.padding >= layer.window)
        does_not_fit(layer, input,
                     "a padding of " + std::to_string(layer.padding) + " for a window of " +
                         std::to_string(layer.window) + " has windows with nothing in them",
                     "the padding must be below the window; (window - 1) / 2 keeps the size");
    if (layer.stride > layer.window && layer.kind == LayerKind::max_pool)
        does_not_fit(layer, input,
                     "a stride of " + std::to_string(layer.stride) +
                         " leaves out pixels between windows of " + std::to_string(layer.window),
                     "the stride must be at most the window");
    // The least that a convolution lowers at once: what the windows of one row of positions cover.
    const std::size_t taps = layer.window * layer.window * input.channels;
    if (layer.kind == LayerKind::conv && taps * extent(input.width) > activations_max)
        does_not_fit(layer, input,
                     "the windows of one row cover more than " + std::to_string(activations_max) +
                         " numbers",
                     "make the window or its input smaller");
}

void check_groups(const LayerSettings& layer, const Shape& input) {
    if (input.channels % layer.groups != 0)
        does_not_fit(layer, input,
                     std::to_string(input.channels) + " channels are no " +
                         std::to_string(layer.groups) + " groups of equal size",
                     "the number of groups must divide the channels; `group_norm: 1` takes them "
                     "all as one");
    if (input.element_count() / layer.groups < 2)
        does_not_fit(layer, input, "a group of one value is always 0 once it is normalised",
                     "take fewer groups, or put it before the pool");
}

std::unique_ptr<Layer> make_layer(const LayerSettings& layer, const std::string& name,
                                  const Shape& input, ParameterLayout& layout) {
    switch (layer.kind) {
        case LayerKind::conv:
            check_window(layer, input);
            return std::make_unique<Convolution>(
                name, input,
                ConvolutionShape{layer.outputs, layer.window, layer.stride, layer.padding}, layout);
        case LayerKind::max_pool:
            check_window(layer, input);
            return std::make_unique<MaxPool>(input, layer.window, layer.stride);
        case LayerKind::global_average_pool:
            return std::make_unique<GlobalAveragePool>(input);
        case LayerKind::group_norm:
            check_groups(layer, input);
            return std::make_unique<GroupNorm>(name, input, layer.groups, layout);
        case LayerKind::relu:
            return std::make_unique<Relu>(input);
        case LayerKind::flatten:
            return std::make_unique<Flatten>(input);
        case LayerKind::dense:
            // Of several channels there are two orders; the file is to say that it means flatten's.
            if (input.channels > 1 && input.height * input.width > 1)
                does_not_fit(layer, input, "a dense layer takes a vector",
                             "put a `flatten` before it");
            return std::make_unique<Dense>(name, input, layer.outputs, layout);
    }
    return nullptr;
}

std::string kind_name(LayerKind kind) {
    switch (kind) {
        case LayerKind::conv:
            return "conv";
        case LayerKind::max_pool:
            return "max_pool";
        case LayerKind::global_average_pool:
            return "global_average_pool";
        case LayerKind::group_norm:
            return "group_norm";
        case LayerKind::relu:
            return "relu";
        case LayerKind::flatten:
            return "flatten";
        case LayerKind::dense:
            return "dense";
    }
    return "";
}

void check_scores(const LayerSettings& last, const LayerList& list) {
    const Shape output = list.output_shape();
    const std::size_t classes = output.element_count();
    const bool vector = output.height == 1 && output.width == 1;
    if (vector && classes >= 2 && classes <= class_count_max && list.layout.element_count() > 0)
        return;
    throw StartupError(last.place.text + ": the last layer must give the scores of 2 to " +
                           std::to_string(class_count_max) + " classes; its output is " +
                           text_of(output),
                       "end the list with `dense: N` for N classes");
}

/// Scores below 0 would become 0, and a class whose score is 0 learns nothing.
void check_last_layer(const std::vector<LayerSettings>& settings) {
    auto last = settings.rbegin();
    while (last != settings.rend() && last->kind == LayerKind::flatten) ++last;
    if (last == settings.rend() || last->kind != LayerKind::relu) return;
    throw StartupError(last->place.text +
                           ": a ReLU is the last layer: it makes every score below " +
                           "0 the same, and a class whose score is 0 learns nothing",
                       "leave it out: softmax and its loss follow by themselves");
}

}  // namespace

LayerList build_layers(Shape input, const std::vector<LayerSettings>& settings) {
    if (settings.empty()) throw StartupError("model.layers: the list is empty", "add `dense: 10`");
    LayerList list;
    list.input = input;
    std::map<LayerKind, int> number;
    for (const LayerSettings& layer : settings) {
        const bool has_parameters = layer.kind == LayerKind::conv ||
                                    layer.kind == LayerKind::dense ||
                                    layer.kind == LayerKind::group_norm;
        std::string name = kind_name(layer.kind);
        if (has_parameters) name += std::to_string(++number[layer.kind]);
        if (list.output_shape().element_count() > activations_max)
            does_not_fit(layer, list.output_shape(),
                         "more than " + std::to_string(activations_max) + " numbers per image",
                         "have the layers before it give fewer, or take smaller images");
        list.layers.push_back(make_layer(layer, name, list.output_shape(), list.layout));
        list.names.push_back(std::move(name));
    }
    check_scores(settings.back(), list);
    check_last_layer(settings);
    return list;
}

}  // namespace ako
