#include "models/max_pool.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "ako/assert.h"

namespace ako {

MaxPool::MaxPool(Shape input, std::size_t window, std::size_t stride)
    : input_(input), window_(window), stride_(stride), rest_(input.channels) {
    AKO_ASSERT(stride >= 1 && stride <= window && window <= input.height && window <= input.width,
               "pooling of " + std::to_string(input.height) + " x " + std::to_string(input.width) +
                   " by " + std::to_string(window) + " every " + std::to_string(stride));
}

Shape MaxPool::output_shape() const {
    const auto windows = [this](std::size_t extent) {
        return (extent - window_ + stride_ - 1) / stride_ + 1;
    };
    return {windows(input_.height), windows(input_.width), input_.channels};
}

bool MaxPool::halves_evenly() const {
    return window_ == 2 && stride_ == 2 && input_.height % 2 == 0 && input_.width % 2 == 0;
}

namespace {

// Loops over the channels of one window, without branches, so that the compiler vectorises them.
// `in` steps from a pixel to the one below by `row`, to the one on its right by `channels`.

void pool_window(std::size_t channels, std::size_t row, const float* __restrict in,
                 float* __restrict maximum) {
    for (std::size_t c = 0; c < channels; ++c)
        maximum[c] = std::max(std::max(in[c], in[channels + c]),
                              std::max(in[row + c], in[row + channels + c]));
}

/// All ones where a == b, else 0.
std::uint32_t mask_of_equal(float a, float b) { return -static_cast<std::uint32_t>(a == b); }

/// The first of the four that equals the maximum takes the gradient, which then is 0 for the
/// others. Masks, because the compiler makes branches of choices between floats.
void spread_window(std::size_t channels, std::size_t row, const float* __restrict in,
                   const float* __restrict maximum, const float* __restrict gradient,
                   float* __restrict in_gradient) {
    for (std::size_t c = 0; c < channels; ++c) {
        auto rest = std::bit_cast<std::uint32_t>(gradient[c]);
        const std::uint32_t first = rest & mask_of_equal(in[c], maximum[c]);
        rest ^= first;
        const std::uint32_t second = rest & mask_of_equal(in[channels + c], maximum[c]);
        rest ^= second;
        const std::uint32_t third = rest & mask_of_equal(in[row + c], maximum[c]);
        rest ^= third;
        in_gradient[c] = std::bit_cast<float>(first);
        in_gradient[channels + c] = std::bit_cast<float>(second);
        in_gradient[row + c] = std::bit_cast<float>(third);
        in_gradient[row + channels + c] = std::bit_cast<float>(rest);
    }
}

}  // namespace

void MaxPool::forward(const ForwardPass& pass) {
    if (!halves_evenly()) return forward_windows(pass);
    const std::size_t channels = input_.channels;
    const std::size_t row = input_.width * channels;
    const float* in = pass.input.data();
    float* maximum = pass.output.data();
    for (std::size_t pair = 0; pair < pass.count * input_.height / 2; ++pair, in += row)
        for (std::size_t x = 0; x < input_.width / 2; ++x) {
            pool_window(channels, row, in, maximum);
            in += 2 * channels;
            maximum += channels;
        }
}

void MaxPool::backward(const BackwardPass& pass) {
    if (pass.input_gradient.empty()) return;
    if (!halves_evenly()) return backward_windows(pass);
    const std::size_t channels = input_.channels;
    const std::size_t row = input_.width * channels;
    std::size_t in = 0;
    std::size_t out = 0;
    for (std::size_t pair = 0; pair < pass.count * input_.height / 2; ++pair, in += row)
        for (std::size_t x = 0; x < input_.width / 2; ++x) {
            spread_window(channels, row, pass.input.data() + in, pass.output.data() + out,
                          pass.output_gradient.data() + out, pass.input_gradient.data() + in);
            in += 2 * channels;
            out += channels;
        }
}

/// Calls visit(output element, input element, rows, columns) for the window of each output pixel:
/// where both begin, and how much of the window is inside the image.
template <class Visit>
void MaxPool::visit_windows(std::size_t image_count, Visit visit) const {
    const Shape output = output_shape();
    std::size_t out = 0;
    for (std::size_t n = 0; n < image_count; ++n)
        for (std::size_t y = 0; y < output.height; ++y)
            for (std::size_t x = 0; x < output.width; ++x, out += output.channels) {
                const std::size_t top = y * stride_;
                const std::size_t left = x * stride_;
                visit(out, ((n * input_.height + top) * input_.width + left) * input_.channels,
                      std::min(window_, input_.height - top),
                      std::min(window_, input_.width - left));
            }
}

void MaxPool::forward_windows(const ForwardPass& pass) const {
    const std::size_t channels = input_.channels;
    const std::size_t row = input_.width * channels;
    visit_windows(
        pass.count, [&](std::size_t out, std::size_t in, std::size_t rows, std::size_t columns) {
            float* __restrict maximum = &pass.output[out];
            std::copy_n(&pass.input[in], channels, maximum);
            for (std::size_t y = 0; y < rows; ++y)
                for (std::size_t x = 0; x < columns; ++x) {
                    const float* __restrict pixel = &pass.input[in + y * row + x * channels];
                    for (std::size_t c = 0; c < channels; ++c)
                        maximum[c] = std::max(maximum[c], pixel[c]);
                }
        });
}

void MaxPool::backward_windows(const BackwardPass& pass) {
    const std::size_t channels = input_.channels;
    const std::size_t row = input_.width * channels;
    // Windows may overlap, so a pixel's gradient is a sum.
    std::fill(pass.input_gradient.begin(), pass.input_gradient.end(), 0.0f);
    visit_windows(pass.count, [&](std::size_t out, std::size_t in, std::size_t rows,
                                  std::size_t columns) {
        float* __restrict rest = rest_.data();
        const float* __restrict maximum = &pass.output[out];
        std::copy_n(&pass.output_gradient[out], channels, rest);
        for (std::size_t y = 0; y < rows; ++y)
            for (std::size_t x = 0; x < columns; ++x) {
                const std::size_t place = in + y * row + x * channels;
                const float* __restrict pixel = &pass.input[place];
                float* __restrict gradient = &pass.input_gradient[place];
                for (std::size_t c = 0; c < channels; ++c) {
                    const auto taken = std::bit_cast<float>(std::bit_cast<std::uint32_t>(rest[c]) &
                                                            mask_of_equal(pixel[c], maximum[c]));
                    gradient[c] += taken;
                    rest[c] -= taken;
                }
            }
    });
}

}  // namespace ako
