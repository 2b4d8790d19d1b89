#include "models/convolution.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "ako/assert.h"
#include "models/biases.h"
#include "models/blas.h"

namespace ako {

namespace {

/// Memory of `columns`: half of the 1 MiB of second-level cache a server core has, the rest being
/// for the images and the product.
constexpr std::size_t columns_bytes = std::size_t{512} << 10;

/// How many of things of so many elements fit into that.
std::size_t count_that_fits(std::size_t elements) {
    return std::max<std::size_t>(1, columns_bytes / (elements * sizeof(float)));
}

/// As many rows at once as make pieces of about the same size.
std::size_t even_rows(std::size_t row_count, std::size_t fitting_rows) {
    const std::size_t pieces = (row_count + fitting_rows - 1) / fitting_rows;
    return (row_count + pieces - 1) / pieces;
}

Shape shape_of_output(const Shape& framed, const ConvolutionShape& shape, const std::string& name) {
    AKO_ASSERT(shape.window >= 1 && shape.window <= framed.height && shape.window <= framed.width &&
                   shape.stride >= 1,
               name + ": window of " + std::to_string(shape.window) + " with stride " +
                   std::to_string(shape.stride));
    return {(framed.height - shape.window) / shape.stride + 1,
            (framed.width - shape.window) / shape.stride + 1, shape.outputs};
}

}  // namespace

Convolution::Convolution(const std::string& name, Shape input, ConvolutionShape shape,
                         ParameterLayout& layout)
    : input_(input),
      shape_(shape),
      padding_(input, shape.padding, shape.padding_mode),
      output_(shape_of_output(padding_.framed(), shape, name)),
      tap_count_(shape.window * shape.window * input.channels),
      weight_(layout.add(name + ".weight",
                         {shape.outputs, input.channels, shape.window, shape.window})),
      bias_(layout.add(name + ".bias", {shape.outputs})),
      images_at_once_(count_that_fits(output_.height * output_.width * tap_count_)),
      rows_at_once_(even_rows(output_.height, count_that_fits(output_.width * tap_count_))) {}

template <class Visit>
void Convolution::for_each_piece(std::size_t image_count, Visit visit) {
    const std::size_t rows = rows_of_piece();
    // Not before it is needed: who only asks for a network's parameters needs no memory for it.
    columns_.resize(column_elements());
    frames_.resize(frame_elements());
    for (std::size_t image = 0; image < image_count; image += images_at_once_)
        for (std::size_t row = 0; row < output_.height; row += rows)
            visit(Piece{image, std::min(images_at_once_, image_count - image), row,
                        std::min(rows, output_.height - row)});
}

std::size_t Convolution::position_count(const Piece& piece) const {
    return piece.image_count * piece.row_count * output_.width;
}

std::size_t Convolution::first_output(const Piece& piece) const {
    return (piece.first_image * output_.height + piece.first_row) * output_.width * shape_.outputs;
}

void Convolution::forward(const ForwardPass& pass) {
    pass.need(parameters());
    const auto weight = pass.parameters.subspan(weight_.first, weight_.count);
    const auto bias = pass.parameters.subspan(bias_.first, bias_.count);
    load_kernel(weight);
    const Matrix kernel{kernel_.data(), shape_.outputs, tap_count_};
    for_each_piece(pass.count, [&](const Piece& piece) {
        float* output = &pass.output[first_output(piece)];
        lower(pass.input, piece);
        fill_rows(bias, position_count(piece), output);
        multiply({columns_.data(), position_count(piece), tap_count_}, kernel.transpose(), output,
                 Product::accumulate);
    });
}

void Convolution::backward(const BackwardPass& pass) {
    load_kernel(pass.parameters.subspan(weight_.first, weight_.count));
    const Matrix kernel{kernel_.data(), shape_.outputs, tap_count_};
    const auto bias_gradient = pass.parameter_gradient.subspan(bias_.first, bias_.count);
    std::fill(bias_gradient.begin(), bias_gradient.end(), 0.0f);
    kernel_gradient_.assign(weight_.count, 0.0f);
    for_each_piece(pass.count, [&](const Piece& piece) {
        const Matrix output_gradient{&pass.output_gradient[first_output(piece)],
                                     position_count(piece), shape_.outputs};
        add_row_sums({output_gradient.data, output_gradient.rows * shape_.outputs}, bias_gradient);
        lower(pass.input, piece);
        multiply(output_gradient.transpose(), {columns_.data(), output_gradient.rows, tap_count_},
                 kernel_gradient_.data(), Product::accumulate);
        if (pass.input_gradient.empty()) return;
        multiply(output_gradient, kernel, columns_.data(), Product::overwrite);
        raise(piece, pass.input_gradient);
    });
    store_kernel_gradient(pass.parameter_gradient.subspan(weight_.first, weight_.count));
    pass.complete(parameters());
}

// The taps of one row of the window lie one after the other in the image as in `columns`, so
// lowering copies runs and raising adds them. The short runs of images with one channel or three
// have loops of their own: a call to copy so little takes longer than copying it.

namespace {

/// Calls visit(image element, column element, run) for each run, in the order of `columns`: of so
/// many images that have the shape `image`, the window positions in rows [first_row, end_row).
template <class Run, class Visit>
void visit_runs(const Shape& image, const ConvolutionShape& shape, std::size_t image_count,
                std::size_t first_row, std::size_t end_row, std::size_t row_positions, Run run,
                Visit visit) {
    std::size_t column = 0;
    for (std::size_t n = 0; n < image_count; ++n)
        for (std::size_t y = first_row; y < end_row; ++y)
            for (std::size_t x = 0; x < row_positions; ++x) {
                std::size_t element =
                    ((n * image.height + y * shape.stride) * image.width + x * shape.stride) *
                    image.channels;
                for (std::size_t tap_row = 0; tap_row < shape.window; ++tap_row) {
                    visit(element, column, run);
                    element += image.width * image.channels;
                    column += run;
                }
            }
}

}  // namespace

void Convolution::lower(std::span<const float> input, const Piece& piece) {
    const float* images = &input[piece.first_image * input_.element_count()];
    if (padding_.any()) {
        if (piece.first_row == 0) padding_.frame(images, piece.image_count, frames_.data());
        images = frames_.data();
    }
    float* columns = columns_.data();
    const auto lower_runs = [&](auto run) {
        visit_runs(padding_.framed(), shape_, piece.image_count, piece.first_row,
                   piece.first_row + piece.row_count, output_.width, run,
                   [=](std::size_t from, std::size_t to, auto count) {
                       std::memcpy(columns + to, images + from, count * sizeof(float));
                   });
    };
    switch (const std::size_t run = shape_.window * input_.channels; run) {
        case 3:
            return lower_runs(std::integral_constant<std::size_t, 3>());
        case 5:
            return lower_runs(std::integral_constant<std::size_t, 5>());
        case 9:
            return lower_runs(std::integral_constant<std::size_t, 9>());
        case 15:
            return lower_runs(std::integral_constant<std::size_t, 15>());
        default:
            return lower_runs(run);
    }
}

/// Adds what `columns_` holds for each tap of the piece to the gradient of the tap's pixel.
void Convolution::raise(const Piece& piece, std::span<float> input_gradient) {
    const std::size_t framed_elements = piece.image_count * padding_.framed().element_count();
    const bool first = piece.first_row == 0;
    const bool last = piece.first_row + piece.row_count == output_.height;
    float* images = &input_gradient[piece.first_image * input_.element_count()];
    float* frames = images;
    if (padding_.any()) {
        frame_gradients_.resize(frames_.size());
        frames = frame_gradients_.data();
    }
    if (first) std::fill_n(frames, framed_elements, 0.0f);
    visit_runs(padding_.framed(), shape_, piece.image_count, piece.first_row,
               piece.first_row + piece.row_count, output_.width, shape_.window * input_.channels,
               [=, columns = columns_.data()](std::size_t to, std::size_t from, std::size_t run) {
                   float* __restrict target = frames + to;
                   const float* __restrict source = columns + from;
                   for (std::size_t k = 0; k < run; ++k) target[k] += source[k];
               });
    if (padding_.any() && last) padding_.unframe(frames, piece.image_count, images);
}

// Parameters hold [outputs x channels x taps of one channel], the kernel [outputs x taps of one
// channel x channels].

void Convolution::load_kernel(std::span<const float> weight) {
    kernel_.resize(weight.size());
    const std::size_t channels = input_.channels;
    const std::size_t area = shape_.window * shape_.window;
    for (std::size_t o = 0; o < shape_.outputs; ++o)
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t a = 0; a < area; ++a)
                kernel_[(o * area + a) * channels + c] = weight[(o * channels + c) * area + a];
}

void Convolution::store_kernel_gradient(std::span<float> weight_gradient) const {
    const std::size_t channels = input_.channels;
    const std::size_t area = shape_.window * shape_.window;
    for (std::size_t o = 0; o < shape_.outputs; ++o)
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t a = 0; a < area; ++a)
                weight_gradient[(o * channels + c) * area + a] =
                    kernel_gradient_[(o * area + a) * channels + c];
}

}  // namespace ako
