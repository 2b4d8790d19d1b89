// A convolution of square windows, as nested products (see there): a window of a channels-last
// image is some runs of floats, and is read where it lies.
//
//   output         = windows of the input * kernel + bias        kernel [taps x outputs]
//   kernel gradient = (windows of the input)^T * output gradient
//   windows of the input gradient += output gradient * kernel^T
//
// A tap is one (row, column, input channel) of the window. With padding, an image is first copied
// into a frame, see padding.h, and so is its gradient copied out of one. Rows of taps that would
// meet nothing but zeros above or below an image are left out.
#pragma once

#include <string>
#include <vector>

#include "models/aligned_floats.h"
#include "models/layer.h"
#include "models/padding.h"
#include "models/parameter_layout.h"

namespace ako {

struct ConvolutionShape {
    std::size_t outputs;
    std::size_t window;  ///< side of the square; fits into the padded image
    std::size_t stride = 1;
    std::size_t padding = 0;  ///< pixels on each side of the image
    PaddingMode padding_mode = PaddingMode::zeros;
};

/// Parameters: NAME.weight [outputs x input channels x window x window], NAME.bias [outputs].
class Convolution final : public Layer {
  public:
    Convolution(const std::string& name, Shape input, ConvolutionShape shape,
                ParameterLayout& layout);

    Shape output_shape() const override { return output_; }
    Range parameters() const override { return {weight_.first, weight_.count + bias_.count}; }
    std::size_t scratch_bytes(std::size_t threads) const override;
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    /// What one thread writes besides outputs and gradients: of all its images the gradient of the
    /// kernel, of the one at hand the rest.
    struct Work {
        AlignedFloats kernel_gradient;  ///< as the kernel
        AlignedFloats frame;
        AlignedFloats frame_gradient;
        AlignedFloats padded_output;  ///< the output's gradient as a right factor
    };

    /// Taps of one row of the window, which lie one after the other in an image.
    std::size_t run() const { return shape_.window * input_.channels; }
    std::size_t tap_count() const { return shape_.window * run(); }
    std::size_t position_count() const { return output_.height * output_.width; }
    std::size_t kernel_elements() const;

    bool zeros_outside() const {
        return padding_.any() && shape_.padding_mode == PaddingMode::zeros;
    }
    /// Rows of taps that meet the image where a window belongs to this row of outputs.
    Range tap_rows(std::size_t output_row) const;
    /// Rows of outputs in whose windows this row of taps meets the image.
    Range output_rows(std::size_t tap_row) const;

    const float* framed(const float* image, Work& work) const;
    void write_output(const float* image, float* output, Work& work) const;
    void add_kernel_gradient(const float* image, const float* output_gradient, Work& work) const;
    void write_input_gradient(const float* output_gradient, float* input_gradient,
                              Work& work) const;
    void load_kernel(std::span<const float> weight, std::span<const float> bias);
    void load_transposed_kernel(std::span<const float> weight);
    void store_kernel_gradient(std::span<float> weight, std::span<float> bias);

    const Shape input_;
    const ConvolutionShape shape_;
    const Padding padding_;
    const Shape output_;
    const Range weight_;
    const Range bias_;
    // Right factors of products, whose rows are padded.
    AlignedFloats kernel_;      ///< [taps x outputs], then the bias
    AlignedFloats transposed_;  ///< for each row of the window [outputs x its taps]
    std::vector<Work> works_;   ///< of each thread
};

}  // namespace ako
