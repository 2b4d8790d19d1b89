// Max-pooling over square windows. Every pixel is in some window: where the windows do not come out
// even, the last one of a row or column sticks out over the image and is cut off at its edge, as in
// Caffe (and in PyTorch with ceil_mode). Windows of 2 x 2 that do come out even have loops of their
// own.
#pragma once

#include <vector>

#include "models/layer.h"

namespace ako {

/// `window` is not larger than the image, `stride` from 1 to `window`. Of equal maxima in a window
/// the first (row by row) is given the gradient.
class MaxPool final : public Layer {
  public:
    MaxPool(Shape input, std::size_t window, std::size_t stride);

    Shape output_shape() const override;
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    bool halves_evenly() const;
    void forward_windows(const ForwardPass& pass) const;
    void backward_windows(const BackwardPass& pass);
    template <class Visit>
    void visit_windows(std::size_t image_count, Visit visit) const;

    const Shape input_;
    const std::size_t window_;
    const std::size_t stride_;
    std::vector<float> rest_;  ///< of one window's gradients: what no pixel has been given yet
};

}  // namespace ako
