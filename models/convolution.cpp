#include "models/convolution.h"

#include <algorithm>

#include "ako/assert.h"
#include "models/nested_product.h"

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

std::size_t Convolution::scratch_bytes() const {
    const std::size_t outputs = padded_columns(output_.channels);
    const std::size_t frame = padding_.any() ? padding_.framed().element_count() : 0;
    const std::size_t elements =
        2 * (tap_count() + 1) * outputs +                                       // kernel, gradient
        shape_.window * output_.channels * padded_columns(run()) +              // transposed
        2 * frame +                                                             // and its gradient
        (outputs != output_.channels ? position_count() * outputs : 0);         // padded
    return elements * sizeof(float);
}

const float* Convolution::framed(const float* image) {
    if (!padding_.any()) return image;
    frame_.resize(padding_.framed().element_count());
    padding_.frame(image, 1, frame_.data());
    return frame_.data();
}

void Convolution::forward(const ForwardPass& pass) {
    pass.need(parameters());
    load_kernel(pass.parameters.subspan(weight_.first, weight_.count),
                pass.parameters.subspan(bias_.first, bias_.count));
    const std::size_t row = padding_.framed().width * input_.channels;
    const std::size_t outputs = padded_columns(output_.channels);
    for (std::size_t n = 0; n < pass.count; ++n)
        multiply({framed(&pass.input[n * input_.element_count()]),
                  {{output_.height, shape_.stride * row},
                   {output_.width, shape_.stride * input_.channels}},
                  {{shape_.window, row}, {run(), 1}},
                  kernel_.data(),
                  outputs,
                  output_.channels,
                  &pass.output[n * output_.element_count()],
                  output_.width * output_.channels,
                  output_.channels,
                  &kernel_[tap_count() * outputs]});
}

void Convolution::backward(const BackwardPass& pass) {
    kernel_gradient_.assign((tap_count() + 1) * padded_columns(output_.channels), 0.0f);
    if (!pass.input_gradient.empty())
        load_transposed_kernel(pass.parameters.subspan(weight_.first, weight_.count));
    for (std::size_t n = 0; n < pass.count; ++n) {
        const float* output_gradient = &pass.output_gradient[n * output_.element_count()];
        const std::size_t pixel = n * input_.element_count();
        add_kernel_gradient(&pass.input[pixel], output_gradient);
        if (!pass.input_gradient.empty())
            write_input_gradient(output_gradient, &pass.input_gradient[pixel]);
    }
    store_kernel_gradient(pass.parameter_gradient.subspan(weight_.first, weight_.count),
                          pass.parameter_gradient.subspan(bias_.first, bias_.count));
    pass.complete(parameters());
}

void Convolution::add_kernel_gradient(const float* image, const float* output_gradient) {
    const std::size_t row = padding_.framed().width * input_.channels;
    const std::size_t outputs = padded_columns(output_.channels);
    if (outputs != output_.channels) {
        padded_output_.resize(position_count() * outputs);
        for (std::size_t p = 0; p < position_count(); ++p)
            std::copy_n(output_gradient + p * output_.channels, output_.channels,
                        &padded_output_[p * outputs]);
        output_gradient = padded_output_.data();
    }
    NestedProduct product{framed(image),
                          {{shape_.window, row}, {run(), 1}},
                          {{output_.height, shape_.stride * row},
                           {output_.width, shape_.stride * input_.channels}},
                          output_gradient,
                          outputs,
                          outputs,
                          kernel_gradient_.data(),
                          run() * outputs,
                          outputs,
                          nullptr};
    multiply(product);
    // A bias is the weight of a tap that is 1 everywhere.
    const float one = 1;
    product.left = &one;
    product.rows = {{1, 0}, {1, 0}};
    product.terms = {{output_.height, 0}, {output_.width, 0}};
    product.result = &kernel_gradient_[tap_count() * outputs];
    multiply(product);
}

void Convolution::write_input_gradient(const float* output_gradient, float* input_gradient) {
    const Shape& framed = padding_.framed();
    if (padding_.any()) frame_gradient_.resize(framed.element_count());
    float* gradient = padding_.any() ? frame_gradient_.data() : input_gradient;
    std::fill_n(gradient, framed.element_count(), 0.0f);
    const std::size_t row = framed.width * input_.channels;
    const std::size_t taps = padded_columns(run());
    const std::size_t outputs = output_.channels;
    // Windows beside one another overlap, so that one is added after the other; those below one
    // another do not, where it is the same row of each.
    for (std::size_t tap_row = 0; tap_row < shape_.window; ++tap_row)
        multiply({output_gradient,
                  {{output_.width, outputs}, {output_.height, output_.width * outputs}},
                  {{1, 0}, {outputs, 1}},
                  &transposed_[tap_row * outputs * taps],
                  taps,
                  run(),
                  gradient + tap_row * row,
                  shape_.stride * input_.channels,
                  shape_.stride * row,
                  nullptr});
    if (padding_.any()) padding_.unframe(gradient, 1, input_gradient);
}

// Parameters hold [outputs x channels x taps of one channel].

void Convolution::load_kernel(std::span<const float> weight, std::span<const float> bias) {
    const std::size_t channels = input_.channels;
    const std::size_t area = shape_.window * shape_.window;
    const std::size_t row = padded_columns(output_.channels);
    kernel_.resize((tap_count() + 1) * row);
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

void Convolution::store_kernel_gradient(std::span<float> weight, std::span<float> bias) const {
    const std::size_t channels = input_.channels;
    const std::size_t area = shape_.window * shape_.window;
    const std::size_t row = padded_columns(output_.channels);
    for (std::size_t o = 0; o < output_.channels; ++o)
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t a = 0; a < area; ++a)
                weight[(o * channels + c) * area + a] =
                    kernel_gradient_[(a * channels + c) * row + o];
    std::copy_n(&kernel_gradient_[tap_count() * row], bias.size(), bias.begin());
}

}  // namespace ako
