// Global average pooling: of each channel the mean over all pixels (Lin, Chen, Yan, "Network In
// Network", 2014). A dense layer behind it has few parameters, and takes images of any size.
#pragma once

#include "models/layer.h"

namespace ako {

class GlobalAveragePool final : public Layer {
  public:
    explicit GlobalAveragePool(Shape input) : input_(input) {}

    Shape output_shape() const override { return {1, 1, input_.channels}; }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    const Shape input_;
};

}  // namespace ako
