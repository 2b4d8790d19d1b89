// A network that is a list of layers, each fed by the one before, with a softmax cross-entropy on
// top. Holds scratch memory for the largest batch seen, and no parameters. One thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "ako/network.h"
#include "models/layer.h"
#include "models/parameter_layout.h"

namespace ako {

class Sequential final : public Network {
  public:
    /// `layout` is what the layers were built with, in this order; the last layer's outputs are
    /// the scores of the classes. Builds scratch memory for `batch_count_max` images at once; a
    /// larger batch makes it grow.
    Sequential(Shape input, std::vector<std::unique_ptr<Layer>> layers, ParameterLayout layout,
               std::size_t batch_count_max = 0);

    std::size_t parameter_count() const override { return layout_.element_count(); }
    const std::vector<Tensor>& tensors() const override { return layout_.tensors(); }
    void initialize(std::uint64_t seed, std::span<float> parameters) const override;
    float gradient(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                   const AwaitRange& await, const RangeReady& ready) override;
    Evaluation evaluate(const Batch& batch, std::span<const float> parameters) override;
    std::span<const float> scores(const Batch& batch, std::span<const float> parameters) override {
        return forward(batch, parameters, nullptr);
    }

  private:
    void reserve(std::size_t batch_count);
    void reserve_gradients(std::size_t batch_count);
    std::span<const float> forward(const Batch& batch, std::span<const float> parameters,
                                   const AwaitRange& await);
    void backward(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                  const RangeReady& ready);
    std::size_t output_elements(std::size_t layer) const {
        return layers_[layer]->output_shape().element_count();
    }

    const Shape input_;
    const std::vector<std::unique_ptr<Layer>> layers_;
    const ParameterLayout layout_;
    std::size_t first_to_learn_ = 0;  ///< the first layer with parameters
    std::size_t batch_count_max_ = 0;
    std::vector<std::vector<float>> outputs_;  ///< of each layer
    /// Of a layer's output and of its input, in turn: two layers' worth are in use at a time.
    std::vector<float> gradients_[2];
};

}  // namespace ako
