#include "models/convolution.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "ako/assert.h"
#include "models/blas.h"
#include "models/rows.h"

namespace ako {

namespace {

/// Memory of `columns`: half of the 1 MiB of second-level cache a server core has, the rest being
/// for the images and the product.
constexpr std::size_t columns_bytes = std::size_t{512} << 10;

std::size_t images_that_fit(std::size_t elements_per_image) {
    return std::max<std::size_t>(1, columns_bytes / (elements_per_image * sizeof(float)));
}

}  // namespace

Convolution::Convolution(const std::string& name, Shape input, std::size_t outputs,
                         std::size_t window, ParameterLayout& layout)
    : input_(input),
      outputs_(outputs),
      window_(window),
      tap_count_(window * window * input.channels),
      weight_(layout.add(name + ".weight", {outputs, input.channels, window, window})),
      bias_(layout.add(name + ".bias", {outputs})),
      images_at_once_(images_that_fit(position_count() * tap_count_)),
      columns_(images_at_once_ * position_count() * tap_count_),
      kernel_(outputs * tap_count_),
      kernel_gradient_(outputs * tap_count_) {
    AKO_ASSERT(window >= 1 && window <= input.height && window <= input.width,
               name + ": window of " + std::to_string(window));
}

void Convolution::forward(const ForwardPass& pass) {
    load_kernel(pass.parameters.subspan(weight_.first, weight_.count));
    const auto bias = pass.parameters.subspan(bias_.first, bias_.count);
    const Matrix kernel{kernel_.data(), outputs_, tap_count_};
    for (std::size_t first = 0; first < pass.count; first += images_at_once_) {
        const std::size_t image_count = std::min(images_at_once_, pass.count - first);
        const std::size_t row_count = image_count * position_count();
        float* output = &pass.output[first * position_count() * outputs_];
        lower(&pass.input[first * input_.element_count()], image_count);
        fill_rows(bias, row_count, output);
        multiply({columns_.data(), row_count, tap_count_}, kernel.transpose(), output,
                 Product::accumulate);
    }
}

void Convolution::backward(const BackwardPass& pass) {
    load_kernel(pass.parameters.subspan(weight_.first, weight_.count));
    const Matrix kernel{kernel_.data(), outputs_, tap_count_};
    const auto bias_gradient = pass.parameter_gradient.subspan(bias_.first, bias_.count);
    std::fill(bias_gradient.begin(), bias_gradient.end(), 0.0f);
    std::fill(kernel_gradient_.begin(), kernel_gradient_.end(), 0.0f);
    for (std::size_t first = 0; first < pass.count; first += images_at_once_) {
        const std::size_t image_count = std::min(images_at_once_, pass.count - first);
        const std::size_t row_count = image_count * position_count();
        const Matrix output_gradient{&pass.output_gradient[first * position_count() * outputs_],
                                     row_count, outputs_};
        add_row_sums(output_gradient.data, row_count, bias_gradient);
        lower(&pass.input[first * input_.element_count()], image_count);
        multiply(output_gradient.transpose(), {columns_.data(), row_count, tap_count_},
                 kernel_gradient_.data(), Product::accumulate);
        if (pass.input_gradient.empty()) continue;
        multiply(output_gradient, kernel, columns_.data(), Product::overwrite);
        float* input_gradient = &pass.input_gradient[first * input_.element_count()];
        std::fill_n(input_gradient, image_count * input_.element_count(), 0.0f);
        add_raised(image_count, input_gradient);
    }
    store_kernel_gradient(pass.parameter_gradient.subspan(weight_.first, weight_.count));
}

// The taps of one row of the window lie one after the other in the image as in `columns`, so
// lowering copies runs and raising adds them. Runs of 5 floats, those of a grey image under a
// window of 5, have a loop of their own: a call to copy so little takes longer than copying it.

namespace {

/// Calls visit(image element, column element, run) for each run, in the order of `columns`.
template <class Run, class Visit>
void visit_runs(const Shape& input, const Shape& output, std::size_t image_count,
                std::size_t window, Run run, Visit visit) {
    std::size_t column = 0;
    for (std::size_t n = 0; n < image_count; ++n)
        for (std::size_t y = 0; y < output.height; ++y)
            for (std::size_t x = 0; x < output.width; ++x)
                for (std::size_t tap_row = 0; tap_row < window; ++tap_row, column += run)
                    visit(((n * input.height + y + tap_row) * input.width + x) * input.channels,
                          column, run);
}

}  // namespace

void Convolution::lower(const float* images, std::size_t image_count) {
    float* columns = columns_.data();
    const auto copy = [=](std::size_t from, std::size_t to, auto run) {
        std::memcpy(columns + to, images + from, run * sizeof(float));
    };
    const std::size_t run = window_ * input_.channels;
    if (run == 5)
        visit_runs(input_, output_shape(), image_count, window_,
                   std::integral_constant<std::size_t, 5>(), copy);
    else
        visit_runs(input_, output_shape(), image_count, window_, run, copy);
}

void Convolution::add_raised(std::size_t image_count, float* images) const {
    const auto add = [=, columns = columns_.data()](std::size_t to, std::size_t from,
                                                    std::size_t run) {
        float* __restrict target = images + to;
        const float* __restrict source = columns + from;
        for (std::size_t k = 0; k < run; ++k) target[k] += source[k];
    };
    visit_runs(input_, output_shape(), image_count, window_, window_ * input_.channels, add);
}

// Parameters hold [outputs x channels x taps of one channel], the kernel [outputs x taps of one
// channel x channels].

void Convolution::load_kernel(std::span<const float> weight) {
    const std::size_t channels = input_.channels;
    const std::size_t area = window_ * window_;
    for (std::size_t o = 0; o < outputs_; ++o)
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t a = 0; a < area; ++a)
                kernel_[(o * area + a) * channels + c] = weight[(o * channels + c) * area + a];
}

void Convolution::store_kernel_gradient(std::span<float> weight_gradient) const {
    const std::size_t channels = input_.channels;
    const std::size_t area = window_ * window_;
    for (std::size_t o = 0; o < outputs_; ++o)
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t a = 0; a < area; ++a)
                weight_gradient[(o * channels + c) * area + a] =
                    kernel_gradient_[(o * area + a) * channels + c];
}

}  // namespace ako
