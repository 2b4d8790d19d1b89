// From images to vectors: [height x width x channels] becomes [channels x height x width], the
// order in which a dense layer trained by other programs expects its inputs.
#pragma once

#include "models/layer.h"

namespace ako {

class Flatten final : public Layer {
  public:
    explicit Flatten(Shape input) : input_(input) {}

    Shape output_shape() const override { return {1, 1, input_.element_count()}; }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    const Shape input_;
};

}  // namespace ako
