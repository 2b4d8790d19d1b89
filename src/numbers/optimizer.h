// The optimizer: turns a gradient into an update. In the mode ako it runs at the sender, before
// updates are summed, so that a row is a plain sum of what its owner made; a ring steps with the
// mean everywhere, a parameter server where the parameters are.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "ako/algorithm_settings.h"
#include "ako/norm.h"
#include "ako/types.h"

namespace ako {

/// Stochastic gradient descent with momentum and L2 weight decay (Sutskever et al., "On the
/// importance of initialization and momentum in deep learning", 2013), as PyTorch writes it:
///     decayed  = trust * (gradient + weight_decay * parameters)
///     velocity = momentum * velocity + decayed
///     update   = -rate * velocity                           classical momentum
///     update   = -rate * (decayed + momentum * velocity)    Nesterov's, which looks a step ahead
/// With `optimizer: lars` each layer has a trust of its own, by which a step is so large beside
/// that layer's parameters as the rate says (Y. You, I. Gitman, B. Ginsburg: "Large Batch Training
/// of Convolutional Networks", 2017):
///     trust    = coefficient * |parameters| / (|gradient| + weight_decay * |parameters|)
/// else it is 1. One thread at a time.
class Sgd {
  public:
    Sgd(std::size_t parameter_count, double momentum, double weight_decay, bool nesterov)
        : momentum_(static_cast<float>(momentum)),
          weight_decay_(static_cast<float>(weight_decay)),
          direct_(nesterov ? 1.0f : 0.0f),
          carried_(nesterov ? momentum_ : 1.0f),
          velocity_(parameter_count, 0.0f),
          layers_{{{0, parameter_count}, 1}} {}

    /// `layers` are in order and without gaps; only LARS looks at them, and takes a vector without
    /// any for one layer.
    Sgd(std::size_t parameter_count, const TrainingSettings& training,
        const std::vector<Range>& layers)
        : Sgd(parameter_count, training.momentum, training.weight_decay, training.nesterov) {
        if (training.optimizer != OptimizerKind::lars) return;
        coefficient_ = training.trust_coefficient;
        if (layers.empty()) return;
        layers_.clear();
        for (const Range& layer : layers) layers_.push_back({layer, 1});
    }

    /// Must each step of a layer follow a `measure` of it?
    bool measures() const { return coefficient_ > 0; }
    /// LARS: takes the trust of these whole layers from `share` times the gradient, and from the
    /// parameters that it was computed at; both are the whole vector.
    void measure(Range range, std::span<const float> gradient, float share,
                 std::span<const float> parameters);

    /// `gradient` and `parameters` are the whole vector; writes `update`, [range.count].
    void step(Range range, std::span<const float> gradient, std::span<const float> parameters,
              double rate, std::span<float> update) {
        for_layers(range, [&](Range part, float trust) {
            step(part, trust, gradient, parameters, rate,
                 update.subspan(part.first - range.first, part.count));
        });
    }

    /// The same step made at once, where nobody needs the update by itself: one pass over memory.
    /// The gradient is `share` times what is given. `gradient` and `parameters` are those of the
    /// range, [range.count].
    void apply(Range range, std::span<const float> gradient, float share,
               std::span<float> parameters, double rate) {
        for_layers(range, [&](Range part, float trust) {
            const std::size_t from = part.first - range.first;
            apply(part, trust, gradient.subspan(from, part.count), share,
                  parameters.subspan(from, part.count), rate);
        });
    }

    /// All that it remembers from one step to the next, [parameter_count].
    std::span<const float> velocity() const { return velocity_; }
    std::span<float> velocity() { return velocity_; }

  private:
    struct Layer {
        Range range;
        float trust = 1;
    };

    template <class Each>
    void for_layers(Range range, const Each& each) const {
        const std::size_t end = range.first + range.count;
        auto layer = std::upper_bound(
            layers_.begin(), layers_.end(), range.first,
            [](std::size_t element, const Layer& of) { return element < of.range.first; });
        for (--layer; range.first < end; ++layer) {
            const std::size_t layer_end = layer->range.first + layer->range.count;
            const std::size_t count = std::min(end, layer_end) - range.first;
            each(Range{range.first, count}, layer->trust);
            range.first += count;
        }
    }

    void step(Range range, float trust, std::span<const float> gradient,
              std::span<const float> parameters, double rate, std::span<float> update) {
        const float momentum = momentum_, decay = weight_decay_;
        const auto step = static_cast<float>(-rate);
        const float direct = step * direct_, carried = step * carried_;
        for (std::size_t k = 0; k < range.count; ++k) {
            const std::size_t at = range.first + k;
            const float decayed = trust * (gradient[at] + decay * parameters[at]);
            velocity_[at] = momentum * velocity_[at] + decayed;
            update[k] = direct * decayed + carried * velocity_[at];
        }
    }

    void apply(Range range, float trust, std::span<const float> gradient, float share,
               std::span<float> parameters, double rate) {
        const float momentum = momentum_, decay = weight_decay_;
        const auto step = static_cast<float>(-rate);
        const float direct = step * direct_, carried = step * carried_;
        float* const velocity = velocity_.data() + range.first;
        const float* const given = gradient.data();
        float* const values = parameters.data();
        for (std::size_t k = 0; k < range.count; ++k) {
            const float decayed = trust * (share * given[k] + decay * values[k]);
            velocity[k] = momentum * velocity[k] + decayed;
            values[k] += direct * decayed + carried * velocity[k];
        }
    }

    float momentum_;
    float weight_decay_;
    // update = -rate * (direct_ * decayed + carried_ * velocity), for both kinds of momentum
    float direct_;
    float carried_;
    double coefficient_ = 0;  ///< of LARS; 0: not that
    std::vector<float> velocity_;
    std::vector<Layer> layers_;  ///< without gaps
};

inline void Sgd::measure(Range range, std::span<const float> gradient, float share,
                         std::span<const float> parameters) {
    for (Layer& layer : layers_) {
        const std::size_t end = layer.range.first + layer.range.count;
        if (layer.range.first < range.first || end > range.first + range.count) continue;
        const double of_gradient =
            share * norm(gradient.subspan(layer.range.first, layer.range.count));
        const double of_parameters = norm(parameters.subspan(layer.range.first, layer.range.count));
        // A layer of zeros has no size that a step could be measured by.
        const bool known = of_gradient > 0 && of_parameters > 0;
        const double with_decay = of_gradient + weight_decay_ * of_parameters;
        layer.trust = known ? static_cast<float>(coefficient_ * of_parameters / with_decay) : 1.0f;
    }
}

}  // namespace ako
