// A convolution of square windows, as a matrix product over lowered images (Chellapilla, Puri,
// Simard: "High Performance Convolutional Neural Networks for Document Processing", 2006).
//
//   columns  [images * positions x taps]   one row per window position: what the window covers
//   kernel   [outputs x taps]              the weights, taps in the order of a row of `columns`
//   output = columns kernel^T + bias       which is channels-last by itself
//
// A tap is one (row, column, input channel) of the window. A batch is lowered piece by piece, so
// that `columns` stays in the cache between being written and being read: some images at a time, or
// some rows of positions where one image is too large. With padding, images are first copied into
// frames, see padding.h.
#pragma once

#include <string>
#include <vector>

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
    std::size_t scratch_bytes() const override {
        // The gradients of kernel and frames are as large as these.
        return (column_elements() + 2 * frame_elements() + 2 * weight_.count) * sizeof(float);
    }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    /// What is lowered at once: some rows of positions of each of some images. More than one image
    /// only if all rows of each.
    struct Piece {
        std::size_t first_image, image_count;
        std::size_t first_row, row_count;
    };

    /// Of the largest piece.
    std::size_t rows_of_piece() const {
        return images_at_once_ > 1 ? output_.height : rows_at_once_;
    }
    std::size_t column_elements() const {
        return images_at_once_ * rows_of_piece() * output_.width * tap_count_;
    }
    std::size_t frame_elements() const {
        return padding_.any() ? images_at_once_ * padding_.framed().element_count() : 0;
    }

    template <class Visit>
    void for_each_piece(std::size_t image_count, Visit visit);
    std::size_t position_count(const Piece& piece) const;
    std::size_t first_output(const Piece& piece) const;

    void lower(std::span<const float> input, const Piece& piece);
    void raise(const Piece& piece, std::span<float> input_gradient);
    void load_kernel(std::span<const float> weight);
    void store_kernel_gradient(std::span<float> weight_gradient) const;

    const Shape input_;
    const ConvolutionShape shape_;
    const Padding padding_;
    const Shape output_;
    const std::size_t tap_count_;
    const Range weight_;
    const Range bias_;
    const std::size_t images_at_once_;
    const std::size_t rows_at_once_;
    std::vector<float> columns_;
    std::vector<float> frames_;           ///< the images of a piece with their padding
    std::vector<float> frame_gradients_;  ///< and the gradient of those
    std::vector<float> kernel_;
    std::vector<float> kernel_gradient_;
};

}  // namespace ako
