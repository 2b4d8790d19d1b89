#include "models/max_pool.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "ako/assert.h"

namespace ako {

MaxPool::MaxPool(Shape input) : input_(input) {
    AKO_ASSERT(input.height % 2 == 0 && input.width % 2 == 0,
               "pooling of " + std::to_string(input.height) + " x " + std::to_string(input.width));
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

}  // namespace ako
