// One image and the maxima of its windows, as max-pooling goes through them. A value.
#pragma once

#include <cstddef>

namespace ako {

struct PooledImage {
    std::size_t height, width, channels;
    std::size_t window, stride;
    std::size_t output_height, output_width;
};

/// The loops of max-pooling, for one width of vectors.
struct PoolLoops {
    void (*pool)(const PooledImage& shape, const float* image, float* maxima);
    void (*spread)(const PooledImage& shape, const float* image, const float* maxima,
                   const float* gradient, float* image_gradient);
};

}  // namespace ako
