#include "models/layer_list.h"

#include <map>
#include <optional>
#include <utility>

#include "ako/assert.h"
#include "ako/error.h"
#include "models/average_pool.h"
#include "models/convolution.h"
#include "models/dense.h"
#include "models/dropout.h"
#include "models/flatten.h"
#include "models/group_norm.h"
#include "models/layer_fit.h"
#include "models/max_pool.h"
#include "models/relu.h"
#include "models/residual.h"
#include "models/subsample.h"

namespace ako {

namespace {

using Layers = std::vector<std::unique_ptr<Layer>>;

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
        case LayerKind::residual:
            return "residual";
        case LayerKind::subsample:
            return "subsample";
        case LayerKind::dropout:
            return "dropout";
        case LayerKind::flatten:
            return "flatten";
        case LayerKind::dense:
            return "dense";
    }
    return "";
}

/// What grows while layers are made, one after the other and one inside the other.
class Builder {
  public:
    explicit Builder(LayerList& list) : list_(list) {}

    Layers make_layers(Shape input, const std::vector<LayerSettings>& settings) {
        Layers layers;
        for (const LayerSettings& layer : settings) {
            layers.push_back(make_outlined(layer, input));
            input = layers.back()->output_shape();
        }
        return layers;
    }

  private:
    std::unique_ptr<Layer> make_outlined(const LayerSettings& layer, const Shape& input) {
        check_fits(layer, input);
        const bool has_parameters = layer.kind == LayerKind::conv ||
                                    layer.kind == LayerKind::dense ||
                                    layer.kind == LayerKind::group_norm;
        std::string name = kind_name(layer.kind);
        if (has_parameters) name += std::to_string(++number_[layer.kind]);
        const std::size_t place = list_.outline.size();
        list_.outline.push_back({name, {}});
        std::unique_ptr<Layer> made = layer.kind == LayerKind::residual
                                          ? make_residual(layer, input)
                                          : make_plain(layer, name, input);
        list_.outline[place].output = made->output_shape();
        if (has_parameters) list_.outline[place].parameter_count = made->parameters().count;
        return made;
    }

    std::unique_ptr<Layer> make_residual(const LayerSettings& layer, const Shape& input) {
        LayerChain body(make_layers(input, layer.layers));
        std::optional<LayerChain> shortcut;
        if (!layer.shortcut.empty()) shortcut.emplace(make_layers(input, layer.shortcut));
        check_sum(layer, input, body.output_shape(), shortcut ? shortcut->output_shape() : input);
        return std::make_unique<Residual>(input, std::move(body), std::move(shortcut));
    }

    std::unique_ptr<Layer> make_plain(const LayerSettings& layer, const std::string& name,
                                      const Shape& input) {
        ParameterLayout& layout = list_.layout;
        switch (layer.kind) {
            case LayerKind::conv:
                return std::make_unique<Convolution>(
                    name, input,
                    ConvolutionShape{layer.outputs, layer.window, layer.stride, layer.padding,
                                     layer.padding_mode},
                    layout);
            case LayerKind::max_pool:
                return std::make_unique<MaxPool>(input, layer.window, layer.stride);
            case LayerKind::global_average_pool:
                return std::make_unique<GlobalAveragePool>(input);
            case LayerKind::group_norm:
                return std::make_unique<GroupNorm>(name, input, layer.groups, layout);
            case LayerKind::relu:
                return std::make_unique<Relu>(input);
            case LayerKind::subsample:
                return std::make_unique<Subsample>(input, layer.stride, layer.outputs);
            case LayerKind::dropout:
                return std::make_unique<Dropout>(input, layer.rate, ++dropouts_);
            case LayerKind::flatten:
                return std::make_unique<Flatten>(input);
            case LayerKind::dense:
                return std::make_unique<Dense>(name, input, layer.outputs, layout);
            case LayerKind::residual:
                break;
        }
        AKO_BUG("layer kind " + std::to_string(static_cast<int>(layer.kind)));
    }

    LayerList& list_;
    std::map<LayerKind, int> number_;  ///< of layers with parameters so far
    std::uint64_t dropouts_ = 0;
};

}  // namespace

LayerList build_layers(Shape input, const std::vector<LayerSettings>& settings) {
    if (settings.empty()) throw StartupError("model.layers: the list is empty", "add `dense: 10`");
    LayerList list;
    list.input = input;
    list.layers = Builder(list).make_layers(input, settings);
    check_scores(settings, list.output_shape(), list.layout.element_count());
    return list;
}

}  // namespace ako
