// The optimizer: turns a gradient into an update. In the mode ako it runs at the sender, before
// updates are summed, so that a row is a plain sum of what its owner made; a ring steps with the
// mean everywhere, a parameter server where the parameters are.
#pragma once

#include <span>
#include <vector>

#include "ako/settings.h"
#include "ako/types.h"

namespace ako {

/// Stochastic gradient descent with momentum and L2 weight decay (Sutskever et al., "On the
/// importance of initialization and momentum in deep learning", 2013), as PyTorch writes it:
///     decayed  = gradient + weight_decay * parameters
///     velocity = momentum * velocity + decayed
///     update   = -rate * velocity                           classical momentum
///     update   = -rate * (decayed + momentum * velocity)    Nesterov's, which looks a step ahead
/// One thread at a time.
class Sgd {
  public:
    Sgd(std::size_t parameter_count, double momentum, double weight_decay, bool nesterov)
        : momentum_(static_cast<float>(momentum)),
          weight_decay_(static_cast<float>(weight_decay)),
          direct_(nesterov ? 1.0f : 0.0f),
          carried_(nesterov ? momentum_ : 1.0f),
          velocity_(parameter_count, 0.0f) {}

    Sgd(std::size_t parameter_count, const TrainingSettings& training)
        : Sgd(parameter_count, training.momentum, training.weight_decay, training.nesterov) {}

    /// `gradient` and `parameters` are the whole vector; writes `update`, [range.count].
    void step(Range range, std::span<const float> gradient, std::span<const float> parameters,
              double rate, std::span<float> update) {
        const float momentum = momentum_, decay = weight_decay_;
        const auto step = static_cast<float>(-rate);
        const float direct = step * direct_, carried = step * carried_;
        for (std::size_t k = 0; k < range.count; ++k) {
            const std::size_t at = range.first + k;
            const float decayed = gradient[at] + decay * parameters[at];
            velocity_[at] = momentum * velocity_[at] + decayed;
            update[k] = direct * decayed + carried * velocity_[at];
        }
    }

    /// The same step made at once, where nobody needs the update by itself: one pass over memory.
    /// The gradient is `share` times what is given. `gradient` and `parameters` are those of the
    /// range, [range.count].
    void apply(Range range, std::span<const float> gradient, float share,
               std::span<float> parameters, double rate) {
        const float momentum = momentum_, decay = weight_decay_;
        const auto step = static_cast<float>(-rate);
        const float direct = step * direct_, carried = step * carried_;
        float* const velocity = velocity_.data() + range.first;
        const float* const given = gradient.data();
        float* const values = parameters.data();
        for (std::size_t k = 0; k < range.count; ++k) {
            const float decayed = share * given[k] + decay * values[k];
            velocity[k] = momentum * velocity[k] + decayed;
            values[k] += direct * decayed + carried * velocity[k];
        }
    }

    /// All that it remembers from one step to the next, [parameter_count].
    std::span<const float> velocity() const { return velocity_; }
    std::span<float> velocity() { return velocity_; }

  private:
    float momentum_;
    float weight_decay_;
    // update = -rate * (direct_ * decayed + carried_ * velocity), for both kinds of momentum
    float direct_;
    float carried_;
    std::vector<float> velocity_;
};

}  // namespace ako
