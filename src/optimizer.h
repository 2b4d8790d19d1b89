// The optimizer: turns a gradient into an update. In the mode ako it runs at the sender, before
// updates are summed, so that a row is a plain sum of what its owner made; a ring steps with the
// mean everywhere, a parameter server where the parameters are.
#pragma once

#include <span>
#include <vector>

#include "ako/types.h"

namespace ako {

/// Stochastic gradient descent with momentum and L2 weight decay (Sutskever et al., "On the
/// importance of initialization and momentum in deep learning", 2013, classical momentum as PyTorch
/// writes it):
///     velocity = momentum * velocity + gradient + weight_decay * parameters
///     update   = -rate * velocity
/// One thread at a time.
class Sgd {
  public:
    Sgd(std::size_t parameter_count, double momentum, double weight_decay)
        : momentum_(static_cast<float>(momentum)),
          weight_decay_(static_cast<float>(weight_decay)),
          velocity_(parameter_count, 0.0f) {}

    /// `gradient` and `parameters` are the whole vector; writes `update`, [range.count].
    void step(Range range, std::span<const float> gradient, std::span<const float> parameters,
              double rate, std::span<float> update) {
        const auto step = static_cast<float>(-rate);
        for (std::size_t k = 0; k < range.count; ++k) {
            const std::size_t at = range.first + k;
            velocity_[at] =
                momentum_ * velocity_[at] + gradient[at] + weight_decay_ * parameters[at];
            update[k] = step * velocity_[at];
        }
    }

    /// The same step made at once, where nobody needs the update by itself: one pass over memory.
    /// The gradient is `share` times what is given. `gradient` and `parameters` are those of the
    /// range, [range.count].
    void apply(Range range, std::span<const float> gradient, float share,
               std::span<float> parameters, double rate) {
        const auto step = static_cast<float>(-rate);
        float* const velocity = velocity_.data() + range.first;
        const float* const given = gradient.data();
        float* const values = parameters.data();
        for (std::size_t k = 0; k < range.count; ++k) {
            velocity[k] = momentum_ * velocity[k] + share * given[k] + weight_decay_ * values[k];
            values[k] += step * velocity[k];
        }
    }

  private:
    float momentum_;
    float weight_decay_;
    std::vector<float> velocity_;
};

}  // namespace ako
