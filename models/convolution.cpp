#include "models/convolution.h"

#include <algorithm>

#include "ako/assert.h"
#include "models/eigen_maps.h"
#include "models/nested_product.h"
#include "models/workers.h"

namespace ako {

namespace {

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
      weight_(layout.add(name + ".weight",
                         {shape.outputs, input.channels, shape.window, shape.window})),
      bias_(layout.add(name + ".bias", {shape.outputs})) {}

std::size_t Convolution::kernel_elements() const {
    return (tap_count() + 1) * padded_columns(output_.channels);
}

std::size_t Convolution::scratch_bytes(std::size_t threads) const {
    const std::size_t outputs = padded_columns(output_.channels);
    const std::size_t frame = padding_.any() ? padding_.framed().element_count() : 0;
    const std::size_t padded = outputs != output_.channels ? position_count() * outputs : 0;
    const std::size_t transposed = shape_.window * output_.channels * padded_columns(run());
    const std::size_t work = kernel_elements() + 2 * frame + padded;
    return (kernel_elements() + transposed + threads * work) * sizeof(float);
}

const float* Convolution::framed(const float* image, Work& work) const {
    if (!padding_.any()) return image;
    work.frame.resize(padding_.framed().element_count());
    padding_.frame(image, 1, work.frame.data());
    return work.frame.data();
}

Range Convolution::tap_rows(std::size_t output_row) const {
    if (!zeros_outside()) return {0, shape_.window};
    const std::size_t top = output_row * shape_.stride;  // in the frame
    const std::size_t image_end = shape_.padding + input_.height;
    const std::size_t first = top < shape_.padding ? shape_.padding - top : 0;
    const std::size_t end = top < image_end ? std::min(shape_.window, image_end - top) : 0;
    return {first, first < end ? end - first : 0};
}

Range Convolution::output_rows(std::size_t tap_row) const {
    const auto meets = [&](std::size_t row) {
        const Range taps = tap_rows(row);
        return taps.first <= tap_row && tap_row < taps.first + taps.count;
    };
    std::size_t first = 0, end = output_.height;
    while (first < end && !meets(first)) ++first;
    while (first < end && !meets(end - 1)) --end;
    return {first, end - first};
}

void Convolution::forward(const ForwardPass& pass) {
    pass.need(parameters());
    load_kernel(pass.parameters.subspan(weight_.first, weight_.count),
                pass.parameters.subspan(bias_.first, bias_.count));
    works_.resize(thread_count());
    share_out(pass.count, [&](std::size_t share, std::size_t first, std::size_t end) {
        for (std::size_t n = first; n < end; ++n)
            write_output(&pass.input[n * input_.element_count()],
                         &pass.output[n * output_.element_count()], works_[share]);
    });
}

void Convolution::write_output(const float* image, float* output, Work& work) const {
    image = framed(image, work);
    const std::size_t row = padding_.framed().width * input_.channels;
    const std::size_t output_row = output_.width * output_.channels;
    const std::size_t outputs = padded_columns(output_.channels);
    for (std::size_t first = 0, end = 0; first < output_.height; first = end) {
        // As many rows of outputs as see the same rows of taps.
        const Range taps = tap_rows(first);
        for (end = first + 1; end < output_.height && tap_rows(end) == taps;) ++end;
        multiply({image + (first * shape_.stride + taps.first) * row,
                  {{end - first, shape_.stride * row},
                   {output_.width, shape_.stride * input_.channels}},
                  {{taps.count, row}, {run(), 1}},
                  &kernel_[taps.first * run() * outputs],
                  outputs,
                  output_.channels,
                  output + first * output_row,
                  output_row,
                  output_.channels,
                  &kernel_[tap_count() * outputs]});
    }
}

void Convolution::backward(const BackwardPass& pass) {
    const bool wanted = !pass.input_gradient.empty();
    if (wanted) load_transposed_kernel(pass.parameters.subspan(weight_.first, weight_.count));
    works_.resize(thread_count());
    for (Work& work : works_) work.kernel_gradient.assign(kernel_elements(), 0.0f);
    share_out(pass.count, [&](std::size_t share, std::size_t first, std::size_t end) {
        for (std::size_t n = first; n < end; ++n) {
            const float* output_gradient = &pass.output_gradient[n * output_.element_count()];
            const std::size_t pixel = n * input_.element_count();
            add_kernel_gradient(&pass.input[pixel], output_gradient, works_[share]);
            if (wanted)
                write_input_gradient(output_gradient, &pass.input_gradient[pixel], works_[share]);
        }
    });
    store_kernel_gradient(pass.parameter_gradient.subspan(weight_.first, weight_.count),
                          pass.parameter_gradient.subspan(bias_.first, bias_.count));
    pass.complete(parameters());
}

void Convolution::add_kernel_gradient(const float* image, const float* output_gradient,
                                      Work& work) const {
    const std::size_t row = padding_.framed().width * input_.channels;
    const std::size_t outputs = padded_columns(output_.channels);
    if (outputs != output_.channels) {
        work.padded_output.resize(position_count() * outputs);
        for (std::size_t p = 0; p < position_count(); ++p)
            std::copy_n(output_gradient + p * output_.channels, output_.channels,
                        &work.padded_output[p * outputs]);
        output_gradient = work.padded_output.data();
    }
    image = framed(image, work);
    const std::size_t positions = output_.width * outputs;
    for (std::size_t tap_row = 0; tap_row < shape_.window; ++tap_row) {
        const Range rows = output_rows(tap_row);
        multiply({image + (rows.first * shape_.stride + tap_row) * row,
                  {{1, 0}, {run(), 1}},
                  {{rows.count, shape_.stride * row},
                   {output_.width, shape_.stride * input_.channels}},
                  output_gradient + rows.first * positions,
                  outputs,
                  outputs,
                  &work.kernel_gradient[tap_row * run() * outputs],
                  0,
                  outputs,
                  nullptr});
    }
    // A bias is the weight of a tap that is 1 everywhere.
    const float one = 1;
    multiply({&one,
              {{1, 0}, {1, 0}},
              {{output_.height, 0}, {output_.width, 0}},
              output_gradient,
              outputs,
              outputs,
              &work.kernel_gradient[tap_count() * outputs],
              0,
              outputs,
              nullptr});
}

void Convolution::write_input_gradient(const float* output_gradient, float* input_gradient,
                                       Work& work) const {
    const Shape& framed = padding_.framed();
    float* gradient = input_gradient;
    if (padding_.any()) {
        work.frame_gradient.resize(framed.element_count());
        gradient = work.frame_gradient.data();
    }
    std::fill_n(gradient, framed.element_count(), 0.0f);
    const std::size_t row = framed.width * input_.channels;
    const std::size_t taps = padded_columns(run());
    const std::size_t outputs = output_.channels;
    // Windows beside one another overlap, so that one is added after the other; those below one
    // another do not, where it is the same row of each.
    for (std::size_t tap_row = 0; tap_row < shape_.window; ++tap_row) {
        const Range rows = output_rows(tap_row);
        multiply({output_gradient + rows.first * output_.width * outputs,
                  {{output_.width, outputs}, {rows.count, output_.width * outputs}},
                  {{1, 0}, {outputs, 1}},
                  &transposed_[tap_row * outputs * taps],
                  taps,
                  run(),
                  gradient + (rows.first * shape_.stride + tap_row) * row,
                  shape_.stride * input_.channels,
                  shape_.stride * row,
                  nullptr});
    }
    if (padding_.any()) padding_.unframe(gradient, 1, input_gradient);
}

// Parameters hold [outputs x channels x taps of one channel].

void Convolution::load_kernel(std::span<const float> weight, std::span<const float> bias) {
    const std::size_t channels = input_.channels;
    const std::size_t area = shape_.window * shape_.window;
    const std::size_t row = padded_columns(output_.channels);
    kernel_.resize(kernel_elements());
    for (std::size_t a = 0; a < area; ++a)
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t o = 0; o < output_.channels; ++o)
                kernel_[(a * channels + c) * row + o] = weight[(o * channels + c) * area + a];
    std::copy(bias.begin(), bias.end(), &kernel_[tap_count() * row]);
}

void Convolution::load_transposed_kernel(std::span<const float> weight) {
    const std::size_t channels = input_.channels, window = shape_.window;
    const std::size_t taps = padded_columns(run());
    transposed_.resize(window * output_.channels * taps);
    for (std::size_t o = 0; o < output_.channels; ++o)
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t i = 0; i < window; ++i)
                for (std::size_t j = 0; j < window; ++j)
                    transposed_[(i * output_.channels + o) * taps + j * channels + c] =
                        weight[((o * channels + c) * window + i) * window + j];
}

void Convolution::store_kernel_gradient(std::span<float> weight, std::span<float> bias) {
    const std::size_t channels = input_.channels;
    const std::size_t area = shape_.window * shape_.window;
    const std::size_t row = padded_columns(output_.channels);
    AlignedFloats& sum = works_.front().kernel_gradient;
    for (std::size_t k = 1; k < works_.size(); ++k)
        as_array(std::span(sum)) += as_array(std::span(works_[k].kernel_gradient));
    for (std::size_t o = 0; o < output_.channels; ++o)
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t a = 0; a < area; ++a)
                weight[(o * channels + c) * area + a] = sum[(a * channels + c) * row + o];
    std::copy_n(&sum[tap_count() * row], bias.size(), bias.begin());
}

}  // namespace ako
