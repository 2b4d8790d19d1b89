// A convolution of square windows, stride 1, no padding, as a matrix product over lowered images
// (Chellapilla, Puri, Simard: "High Performance Convolutional Neural Networks for Document
// Processing", 2006).
//
//   columns  [images * positions x taps]   one row per window position: what the window covers
//   kernel   [outputs x taps]              the weights, taps in the order of a row of `columns`
//   output = columns kernel^T + bias       which is channels-last by itself
//
// A tap is one (row, column, input channel) of the window. Images are lowered a few at a time, so
// that `columns` stays in the cache between being written and being read.
#pragma once

#include <string>
#include <vector>

#include "models/layer.h"
#include "models/parameter_layout.h"

namespace ako {

/// Parameters: NAME.weight [outputs x input channels x window x window], NAME.bias [outputs].
class Convolution final : public Layer {
  public:
    Convolution(const std::string& name, Shape input, std::size_t outputs, std::size_t window,
                ParameterLayout& layout);

    Shape output_shape() const override {
        return {input_.height - window_ + 1, input_.width - window_ + 1, outputs_};
    }
    Range parameters() const override { return {weight_.first, weight_.count + bias_.count}; }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    std::size_t position_count() const { return output_shape().height * output_shape().width; }
    void lower(const float* images, std::size_t image_count);
    void add_raised(std::size_t image_count, float* images) const;
    void load_kernel(std::span<const float> weight);
    void store_kernel_gradient(std::span<float> weight_gradient) const;

    const Shape input_;
    const std::size_t outputs_;
    const std::size_t window_;
    const std::size_t tap_count_;
    const Range weight_;
    const Range bias_;
    const std::size_t images_at_once_;
    std::vector<float> columns_;
    std::vector<float> kernel_;
    std::vector<float> kernel_gradient_;
};

}  // namespace ako
