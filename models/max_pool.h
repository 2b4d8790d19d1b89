// Max-pooling over windows of 2 x 2 with stride 2.
#pragma once

#include "models/layer.h"

namespace ako {

/// Height and width of the input must be even. Of equal maxima the first (row by row) is given the
/// gradient.
class MaxPool final : public Layer {
  public:
    explicit MaxPool(Shape input);

    Shape output_shape() const override {
        return {input_.height / 2, input_.width / 2, input_.channels};
    }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    const Shape input_;
};

}  // namespace ako
