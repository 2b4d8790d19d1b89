// A network that is a chain of layers with a softmax cross-entropy on top. Holds scratch memory for
// the largest batch seen, and no parameters. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ako/network.h"
#include "models/layer_chain.h"
#include "models/parameter_layout.h"

namespace ako {

class Sequential final : public Network {
  public:
    /// `layout` is what the layers were built with, in this order; the last layer's outputs are
    /// the scores of the classes. What gradients draw at random (dropout) follows from `noise_seed`
    /// and how many were computed or skipped before; evaluation draws nothing.
    Sequential(Shape input, std::vector<std::unique_ptr<Layer>> layers, ParameterLayout layout,
               std::uint64_t noise_seed = 0);

    std::size_t parameter_count() const override { return layout_.element_count(); }
    const std::vector<Tensor>& tensors() const override { return layout_.tensors(); }
    void initialize(std::uint64_t seed, std::span<float> parameters) const override;
    float gradient(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                   const AwaitRange& await, const RangeReady& ready) override;
    void skip(std::uint64_t gradients, std::size_t) override { gradient_index_ += gradients; }
    Evaluation evaluate(const Batch& batch, std::span<const float> parameters) override;
    std::span<const float> scores(const Batch& batch, std::span<const float> parameters) override {
        return forward(batch, parameters, nullptr, {});
    }

  private:
    std::span<const float> forward(const Batch& batch, std::span<const float> parameters,
                                   const AwaitRange& await, std::optional<std::uint64_t> chance);

    const Shape input_;
    LayerChain chain_;
    const ParameterLayout layout_;
    const std::size_t class_count_;
    const std::uint64_t noise_seed_;
    std::uint64_t gradient_index_ = 0;
    std::vector<float> scores_;
    std::vector<float> score_gradient_;
};

}  // namespace ako
