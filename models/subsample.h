// Every so many-th pixel, with channels of zeros added: the shortcut without parameters of He,
// Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", 2015 (option A).
#pragma once

#include "models/layer.h"

namespace ako {

/// Output: [ceil(height / stride) x ceil(width / stride) x outputs], the input's channels first;
/// `outputs` is at least their number.
class Subsample final : public Layer {
  public:
    Subsample(Shape input, std::size_t stride, std::size_t outputs);

    Shape output_shape() const override { return output_; }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    /// Calls visit(input element, output element) for the first channel of every pixel kept.
    template <class Visit>
    void for_each_pixel(std::size_t image_count, Visit visit) const;

    const Shape input_;
    const std::size_t stride_;
    const Shape output_;
};

}  // namespace ako
