// A network without data, for experiments on the exchange: any number of parameters, a gradient
// that takes a given time, and a loss whose optimum is known.
//
//   loss(x)     = 1/2 * mean over k of (x_k - optimum_k)^2
//   gradient_k  = x_k - optimum_k + noise_k     N times the derivative, so that a learning rate
//                                               means the same for every N
//
// The time is slept, not burnt, so several peers can share a small machine. As in a real network,
// parameters are awaited piece by piece during the first third of the time, first piece first, and
// gradients are finished piece by piece during the other two, last piece first. One thread.
#pragma once

#include <chrono>
#include <vector>

#include "ako/network.h"
#include "models/model_settings.h"
#include "models/parameter_layout.h"

namespace ako {

/// The optimum of `parameter_count` parameters: fixed numbers in (-1, 1), the same for everyone.
std::vector<float> synthetic_optimum(std::size_t parameter_count);

/// An element this close to its optimum counts as a correct answer.
inline constexpr float synthetic_tolerance = 0.05f;

class Synthetic final : public Network {
  public:
    /// Uses parameters, compute_ms and noise. The noise of one gradient after the other follows
    /// from `noise_seed`: uniform, with mean 0 and standard deviation `noise`, whatever the batch.
    Synthetic(const ModelSettings& settings, std::uint64_t noise_seed);

    std::size_t parameter_count() const override { return layout_.element_count(); }
    const std::vector<Tensor>& tensors() const override { return layout_.tensors(); }
    /// Uniform in (-1, 1).
    void initialize(std::uint64_t seed, std::span<float> parameters) const override;
    /// Takes at least `compute_ms`, not counting what `await` and `ready` take.
    float gradient(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                   const AwaitRange& await, const RangeReady& ready) override;
    /// Their noise is not drawn again.
    void skip(std::uint64_t gradients, std::size_t) override { gradient_index_ += gradients; }
    /// One answer per parameter, whatever the batch: loss_sum / count is the loss, correct / count
    /// the share of elements within `synthetic_tolerance` of the optimum.
    Evaluation evaluate(const Batch& batch, std::span<const float> parameters) override;

  private:
    double write_gradient(Range piece, std::span<const float> parameters,
                          std::span<float> gradient) const;

    ParameterLayout layout_;  ///< one tensor per piece
    const std::chrono::duration<double, std::milli> compute_time_;
    const float noise_bound_;
    const std::uint64_t noise_seed_;
    const std::vector<float> optimum_;
    std::uint64_t gradient_index_ = 0;
};

}  // namespace ako
