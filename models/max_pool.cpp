#include "models/max_pool.h"

#include <string>

#include "ako/assert.h"
#include "models/vector_loops.h"
#include "models/workers.h"

namespace ako {

namespace {

PooledImage pooled(const Shape& input, std::size_t window, std::size_t stride) {
    AKO_ASSERT(stride >= 1 && stride <= window && window <= input.height && window <= input.width,
               "pooling of " + std::to_string(input.height) + " x " + std::to_string(input.width) +
                   " by " + std::to_string(window) + " every " + std::to_string(stride));
    const auto windows = [=](std::size_t extent) {
        return (extent - window + stride - 1) / stride + 1;
    };
    return {input.height, input.width,           input.channels,      window,
            stride,       windows(input.height), windows(input.width)};
}

}  // namespace

MaxPool::MaxPool(Shape input, std::size_t window, std::size_t stride)
    : shape_(pooled(input, window, stride)) {}

void MaxPool::forward(const ForwardPass& pass) {
    share_out(pass.count, [&](std::size_t, std::size_t first, std::size_t end) {
        for (std::size_t n = first; n < end; ++n)
            vector_loops().pool.pool(shape_, &pass.input[n * input_elements()],
                                     &pass.output[n * output_elements()]);
    });
}

void MaxPool::backward(const BackwardPass& pass) {
    if (pass.input_gradient.empty()) return;
    share_out(pass.count, [&](std::size_t, std::size_t first, std::size_t end) {
        for (std::size_t n = first; n < end; ++n) {
            const std::size_t in = n * input_elements(), out = n * output_elements();
            vector_loops().pool.spread(shape_, &pass.input[in], &pass.output[out],
                                       &pass.output_gradient[out], &pass.input_gradient[in]);
        }
    });
}

}  // namespace ako
