// Max-pooling over square windows. Every pixel is in some window: where the windows do not come out
// even, the last one of a row or column sticks out over the image and is cut off at its edge, as in
// Caffe (and in PyTorch with ceil_mode).
#pragma once

#include "models/layer.h"
#include "models/pooled_image.h"

namespace ako {

/// `window` is not larger than the image, `stride` from 1 to `window`. The gradient goes to the
/// first (row by row) of equal maxima in a window.
class MaxPool final : public Layer {
  public:
    MaxPool(Shape input, std::size_t window, std::size_t stride);

    Shape output_shape() const override {
        return {shape_.output_height, shape_.output_width, shape_.channels};
    }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    std::size_t input_elements() const { return shape_.height * shape_.width * shape_.channels; }
    std::size_t output_elements() const { return output_shape().element_count(); }

    const PooledImage shape_;
};

}  // namespace ako
