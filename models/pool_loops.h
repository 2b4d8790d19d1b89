// The loops of max-pooling over the windows of one image; for the files vector_loops_* alone. Some
// channels at a time, so that what is known of their maxima stays in a register while all pixels
// of a window are gone through. Functions, any thread.
#pragma once

#include "models/pooled_image.h"
#include "models/vectors.h"

namespace ako {
namespace {

/// Calls visit(output element, input element, pixel rows, pixel columns, channels) for some
/// channels of a window at a time: where both begin, and how much of the window is in the image.
template <class Visit>
inline void visit_windows(const PooledImage& shape, Visit visit) {
    const auto inside = [&](std::size_t first, std::size_t extent) {
        return extent - first < shape.window ? extent - first : shape.window;
    };
    std::size_t out = 0;
    for (std::size_t y = 0; y < shape.output_height; ++y)
        for (std::size_t x = 0; x < shape.output_width; ++x, out += shape.channels) {
            const std::size_t top = y * shape.stride, left = x * shape.stride;
            const std::size_t in = (top * shape.width + left) * shape.channels;
            const std::size_t rows = inside(top, shape.height);
            const std::size_t columns = inside(left, shape.width);
            std::size_t c = 0;
            for (; c + lanes <= shape.channels; c += lanes)
                visit(out + c, in + c, rows, columns, lanes);
            if (c < shape.channels) visit(out + c, in + c, rows, columns, shape.channels - c);
        }
}

void pool_image(const PooledImage& shape, const float* image, float* maxima) {
    const std::size_t row = shape.width * shape.channels;
    visit_windows(shape, [&](std::size_t out, std::size_t in, std::size_t rows, std::size_t columns,
                             std::size_t count) {
        Vector best = load(image + in, count);
        for (std::size_t y = 0; y < rows; ++y)
            for (std::size_t x = 0; x < columns; ++x) {
                const Vector pixel = load(image + in + y * row + x * shape.channels, count);
                best = best < pixel ? pixel : best;
            }
        store(best, maxima + out, count);
    });
}

template <bool overlapping>
void spread_windows(const PooledImage& shape, const float* image, const float* maxima,
                    const float* gradient, float* image_gradient) {
    const std::size_t row = shape.width * shape.channels;
    visit_windows(shape, [&](std::size_t out, std::size_t in, std::size_t rows, std::size_t columns,
                             std::size_t count) {
        const Vector best = load(maxima + out, count);
        // The first pixel that equals the maximum takes the gradient, and leaves 0 to the others.
        Bits rest = reinterpret_cast<Bits>(load(gradient + out, count));
        for (std::size_t y = 0; y < rows; ++y)
            for (std::size_t x = 0; x < columns; ++x) {
                const std::size_t place = in + y * row + x * shape.channels;
                const Bits taken = rest & (load(image + place, count) == best);
                Vector given = reinterpret_cast<Vector>(taken);
                if constexpr (overlapping) given += load(image_gradient + place, count);
                store(given, image_gradient + place, count);
                rest ^= taken;
            }
    });
}

void spread_image(const PooledImage& shape, const float* image, const float* maxima,
                  const float* gradient, float* image_gradient) {
    if (shape.stride == shape.window)
        return spread_windows<false>(shape, image, maxima, gradient, image_gradient);
    __builtin_memset(image_gradient, 0,
                     shape.height * shape.width * shape.channels * sizeof(float));
    spread_windows<true>(shape, image, maxima, gradient, image_gradient);
}

constexpr PoolLoops pool_loops() { return {pool_image, spread_image}; }

}  // namespace
}  // namespace ako
