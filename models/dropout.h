// Dropout (Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov, "Dropout: A Simple Way to
// Prevent Neural Networks from Overfitting", 2014), inverted: in training each value becomes 0 with
// the probability `rate`, and all others are multiplied by 1 / (1 - rate), so that evaluation takes
// every value as it is. Which they are follows from the pass's `chance` and the place in the batch,
// so that the backward pass draws them again, and nothing is kept.
#pragma once

#include <cstdint>

#include "models/layer.h"

namespace ako {

class Dropout final : public Layer {
  public:
    /// `rate` above 0 and below 1, rounded to 1/65,536; `number` tells the dropouts of a network
    /// apart.
    Dropout(Shape shape, double rate, std::uint64_t number);

    Shape output_shape() const override { return shape_; }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    /// Writes `from` times 0 or `kept_factor_` to `to`; a NaN stays one.
    void multiply(std::optional<std::uint64_t> chance, std::span<const float> from,
                  std::span<float> to) const;

    const Shape shape_;
    const std::uint64_t number_;
    const std::uint32_t dropped_;  ///< of 65,536
    const float kept_factor_;
};

}  // namespace ako
