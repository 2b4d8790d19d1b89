// Gradient accumulation: a network that computes the gradient of a batch in parts, one after
// another, and adds them up. What comes out is the gradient of the whole batch, but for dropout,
// which is drawn anew for each part; the layers take the memory of a part. How much the parts'
// gradients differ tells of their noise. One thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "ako/network.h"

namespace ako {

class Accumulation final : public Network {
  public:
    /// Batches in as few parts of at most so many samples as there can be, 1 or more; their sizes
    /// differ by one image at most.
    Accumulation(std::unique_ptr<Network> network, std::size_t samples_at_once);

    std::size_t parameter_count() const override { return network_->parameter_count(); }
    const std::vector<Tensor>& tensors() const override { return network_->tensors(); }
    void initialize(std::uint64_t seed, std::span<float> parameters) const override {
        network_->initialize(seed, parameters);
    }
    float gradient(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                   const AwaitRange& await, const RangeReady& ready) override;
    void skip(std::uint64_t gradients, std::size_t samples) override {
        network_->skip(parts_of(samples) * gradients, samples_at_once_);
    }
    Evaluation evaluate(const Batch& batch, std::span<const float> parameters) override {
        return network_->evaluate(batch, parameters);
    }
    std::span<const float> scores(const Batch& batch, std::span<const float> parameters) override {
        return network_->scores(batch, parameters);
    }
    std::optional<GradientNorms> norms() const override { return norms_; }

  private:
    std::size_t parts_of(std::size_t samples) const {
        return (samples + samples_at_once_ - 1) / samples_at_once_;
    }

    const std::unique_ptr<Network> network_;
    const std::size_t samples_at_once_;
    std::vector<float> sum_;  ///< of the parts before the last, weighted; [parameter_count]
    std::optional<GradientNorms> norms_;
};

}  // namespace ako
