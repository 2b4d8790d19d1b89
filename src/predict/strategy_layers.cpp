// See strategy_layers.h.
#include "src/predict/strategy_layers.h"

#include <algorithm>

#include "ako/assert.h"
#include "models/catalog.h"
#include "models/layer_list.h"

namespace ako {

namespace {

/// Goes through the settings beside the outline, which has every layer in the same order.
class LayerWalk {
  public:
    explicit LayerWalk(const std::vector<OutlinedLayer>& outline) : outline_(outline) {}

    /// `first`: numbers that pass the first of these layers by; `rest`: the others.
    void chain(const std::vector<LayerSettings>& settings, Shape input, std::size_t first,
               std::size_t rest) {
        std::size_t beside = first;
        for (const LayerSettings& layer : settings) {
            input = add(layer, input, beside);
            beside = rest;
        }
    }
    std::vector<StrategyLayer> found() && { return std::move(found_); }

  private:
    Shape add(const LayerSettings& settings, const Shape& input, std::size_t beside) {
        AKO_ASSERT(next_ < outline_.size(), "an outline that is too short");
        const OutlinedLayer& told = outline_[next_++];
        StrategyLayer layer{.name = told.name,
                            .input = input,
                            .output = told.output,
                            .parameter_count = told.parameter_count,
                            .beside_count = beside};
        if (settings.kind == LayerKind::residual) {
            const std::size_t output = told.output.element_count();
            chain(settings.layers, input, beside, beside + input.element_count());
            chain(settings.shortcut, input, beside + output, beside + output);
            layer.input = told.output;  // the sum
            layer.beside_count = beside + output;
        }
        set_windows(layer, settings);
        found_.push_back(layer);
        return told.output;
    }

    static void set_windows(StrategyLayer& layer, const LayerSettings& settings) {
        switch (settings.kind) {
            case LayerKind::conv:
                layer.mixes = true;
                layer.padding = settings.padding;
                [[fallthrough]];
            case LayerKind::max_pool:
                layer.window = settings.window;
                layer.stride = settings.stride;
                return;
            case LayerKind::subsample:
                layer.stride = settings.stride;
                [[fallthrough]];
            case LayerKind::group_norm:
            case LayerKind::relu:
            case LayerKind::residual:
            case LayerKind::dropout:
                layer.window = 1;
                return;
            case LayerKind::dense:
                layer.mixes = true;
                return;
            case LayerKind::global_average_pool:
            case LayerKind::flatten:
                return;
        }
    }

    const std::vector<OutlinedLayer>& outline_;
    std::size_t next_ = 0;
    std::vector<StrategyLayer> found_;
};

/// Of a sample: multiply-adds, or what takes their place.
double operations_of(const StrategyLayer& layer) {
    const auto in = static_cast<double>(layer.input.element_count());
    const auto out = static_cast<double>(layer.output.element_count());
    const auto taps = static_cast<double>(layer.window * layer.window);
    if (layer.mixes)
        return out * (layer.window > 0 ? taps * static_cast<double>(layer.input.channels) : in);
    if (layer.window > 0) return out * taps;
    return layer.input.element_count() == layer.output.element_count() ? 0 : in;  // flatten
}

/// Layers that were measured as one: [first, end), of which `learns` has the parameters.
struct MeasuredLayers {
    std::size_t first = 0, learns = 0, end = 0;
    double forward_s = 0, backward_s = 0;
};

std::vector<MeasuredLayers> measured_together(const std::vector<StrategyLayer>& layers) {
    std::vector<MeasuredLayers> found;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        if (layers[l].parameter_count > 0) {
            if (!found.empty()) found.back().end = l;
            found.push_back({found.empty() ? 0 : l, l, l});
        }
    }
    AKO_ASSERT(!found.empty(), "a network without parameters");
    found.back().end = layers.size();
    return found;
}

/// The place of the layers that have this parameter.
std::size_t place_of(const std::vector<StrategyLayer>& layers,
                     const std::vector<MeasuredLayers>& measured, std::size_t parameter) {
    std::size_t before = 0;
    for (std::size_t k = 0; k < measured.size(); ++k) {
        before += layers[measured[k].learns].parameter_count;
        if (parameter < before) return k;
    }
    return measured.size() - 1;
}

void take_steps(const std::vector<StrategyLayer>& layers, std::vector<MeasuredLayers>& measured,
                const std::vector<GradientStep>& steps) {
    for (MeasuredLayers& one : measured) one.forward_s = one.backward_s = 0;
    std::size_t place = 0;  // of the layers at work
    bool back = false;
    for (const GradientStep& step : steps) {
        // A line through two batches may say less than nothing of a third.
        const double seconds = std::max(0.0, step.seconds);
        if (step.kind == GradientStep::Kind::await) {
            measured[place].forward_s += seconds;
            place = place_of(layers, measured, step.range.first);
            continue;
        }
        if (!back) measured[place].forward_s += forward_share * seconds;
        const double rest = back ? seconds : (1 - forward_share) * seconds;
        back = true;
        place = step.kind == GradientStep::Kind::ready
                    ? place_of(layers, measured, step.range.first)
                    : 0;
        measured[place].backward_s += rest;
    }
}

/// Calls give(layer, seconds) for each of the layers [first, end).
template <class Give>
void share_seconds(const std::vector<StrategyLayer>& layers, std::size_t first, std::size_t end,
                   double seconds, Give give) {
    double all = 0;
    for (std::size_t l = first; l < end; ++l) all += operations_of(layers[l]);
    for (std::size_t l = first; l < end; ++l)
        give(l, all > 0 ? seconds * operations_of(layers[l]) / all : 0);
}

/// Calls give(pass of a layer, its seconds) for all that these steps tell.
template <class Give>
void for_passes(std::vector<StrategyLayer>& layers, const std::vector<GradientStep>& steps,
                double slower, Give give) {
    std::vector<MeasuredLayers> measured = measured_together(layers);
    take_steps(layers, measured, steps);
    for (const MeasuredLayers& one : measured) {
        share_seconds(layers, one.first, one.end, one.forward_s * slower,
                      [&](std::size_t l, double seconds) { give(layers[l].forward, seconds); });
        // What lies before the first parameters has no backward pass.
        share_seconds(layers, one.learns, one.end, one.backward_s * slower,
                      [&](std::size_t l, double seconds) { give(layers[l].backward, seconds); });
    }
}

}  // namespace

std::vector<StrategyLayer> strategy_layers(const ModelSettings& model) {
    const ModelSettings list = written_out(model);
    const LayerList built = build_layers(list.input, list.layers);
    LayerWalk walk(built.outline);
    walk.chain(list.layers, list.input, 0, 0);
    return std::move(walk).found();
}

void set_seconds(std::vector<StrategyLayer>& layers, const MachineProfile& profile,
                 std::size_t batch, double slower) {
    for (StrategyLayer& layer : layers) layer.forward = layer.backward = {};
    for_passes(layers, profile.gradient_of(batch).steps, slower,
               [](PassTime& pass, double seconds) { pass.whole_s = seconds; });
    for (auto part = profile.gradients.rbegin(); part != profile.gradients.rend(); ++part) {
        if (part->batch >= batch) continue;
        const double share = static_cast<double>(part->batch) / static_cast<double>(batch);
        for_passes(layers, part->steps, slower, [&](PassTime& pass, double seconds) {
            pass.parts[static_cast<std::size_t>(Along::samples)].push_back({share, seconds});
        });
    }
}

}  // namespace ako
