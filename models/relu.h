// The rectified linear unit: output = max(input, 0), element by element.
#pragma once

#include "models/layer.h"

namespace ako {

class Relu final : public Layer {
  public:
    explicit Relu(Shape shape) : shape_(shape) {}

    Shape output_shape() const override { return shape_; }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    const Shape shape_;
};

}  // namespace ako
