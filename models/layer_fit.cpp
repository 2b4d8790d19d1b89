#include "models/layer_fit.h"

#include <algorithm>

#include "ako/error.h"
#include "models/shape_text.h"

namespace ako {

namespace {

/// Numbers of one image between two layers, 1 GiB: more is a slip. With the limits of the cluster
/// file it also keeps every product of extents in 64 bits.
constexpr std::size_t activations_max = std::size_t{1} << 28;

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
    if (layer.padding_mode == PaddingMode::reflect &&
        layer.padding >= std::min(input.height, input.width))
        does_not_fit(layer, input,
                     "it has no " + std::to_string(layer.padding) + " pixels to reflect",
                     "the padding must be below its sides, or take `padding_mode: replicate`");
    if (layer.stride > layer.window && layer.kind == LayerKind::max_pool)
        does_not_fit(layer, input,
                     "a stride of " + std::to_string(layer.stride) +
                         " leaves out pixels between windows of " + std::to_string(layer.window),
                     "the stride must be at most the window");
    // What the windows of one row of positions cover: more is a slip, as of activations.
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

void check_channels(const LayerSettings& layer, const Shape& input) {
    if (layer.outputs >= input.channels) return;
    does_not_fit(layer, input,
                 std::to_string(layer.outputs) + " outputs are fewer than its channels, to which " +
                     "it can only add zeros",
                 "give it " + std::to_string(input.channels) +
                     " outputs or more, or take a `conv` with a window of 1");
}

/// Scores below 0 would become 0, and a class whose score is 0 learns nothing.
void check_last_layer(const std::vector<LayerSettings>& settings) {
    auto last = settings.rbegin();
    while (last != settings.rend() && last->kind == LayerKind::flatten) ++last;
    if (last == settings.rend()) return;
    if (last->kind == LayerKind::relu)
        throw StartupError(last->place.text +
                               ": a ReLU is the last layer: it makes every score below " +
                               "0 the same, and a class whose score is 0 learns nothing",
                           "leave it out: softmax and its loss follow by themselves");
    if (last->kind == LayerKind::dropout)
        throw StartupError(
            last->place.text + ": a dropout is the last layer: it takes scores away at random",
            "put it before the last `dense`");
}

}  // namespace

void check_fits(const LayerSettings& layer, const Shape& input) {
    if (input.element_count() > activations_max)
        does_not_fit(layer, input,
                     "more than " + std::to_string(activations_max) + " numbers per image",
                     "have the layers before it give fewer, or take smaller images");
    switch (layer.kind) {
        case LayerKind::conv:
        case LayerKind::max_pool:
            return check_window(layer, input);
        case LayerKind::group_norm:
            return check_groups(layer, input);
        case LayerKind::subsample:
            return check_channels(layer, input);
        case LayerKind::dense:
            // Several channels have two orders; the file is to say that it means flatten's.
            if (input.channels > 1 && input.height * input.width > 1)
                does_not_fit(layer, input, "a dense layer takes a vector",
                             "put a `flatten` before it");
            return;
        case LayerKind::global_average_pool:
        case LayerKind::relu:
        case LayerKind::residual:
        case LayerKind::dropout:
        case LayerKind::flatten:
            return;
    }
}

void check_sum(const LayerSettings& layer, const Shape& input, const Shape& body,
               const Shape& shortcut) {
    if (body == shortcut) return;
    const bool plain = layer.shortcut.empty();
    const std::size_t ratio = (shortcut.height + body.height - 1) / body.height;
    const std::string remedy = std::string(plain ? "give it a shortcut" : "have its shortcut end") +
                               " with the same shape, for example `conv: {outputs: " +
                               std::to_string(body.channels) + ", window: 1" +
                               (ratio > 1 ? ", stride: " + std::to_string(ratio) : "") + "}`";
    does_not_fit(layer, input,
                 "its layers give " + text_of(body) + ", to which " +
                     (plain ? "the input" : "the shortcut's " + text_of(shortcut)) +
                     " cannot be added",
                 remedy + ", or its layers that of " + (plain ? "the input" : "the shortcut"));
}

void check_scores(const std::vector<LayerSettings>& settings, const Shape& output,
                  std::size_t parameter_count) {
    const std::size_t classes = output.element_count();
    const bool vector = output.height == 1 && output.width == 1;
    if (!vector || classes < 2 || classes > class_count_max || parameter_count == 0)
        throw StartupError(
            settings.back().place.text + ": the last layer must give the scores of 2 to " +
                std::to_string(class_count_max) + " classes; its output is " + text_of(output),
            "end the list with `dense: N` for N classes");
    check_last_layer(settings);
}

}  // namespace ako
