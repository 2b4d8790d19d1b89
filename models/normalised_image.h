// One image as group normalisation goes through it, and the loops that do. A value.
#pragma once

#include <cstddef>

namespace ako {

struct NormalisedImage {
    std::size_t pixels, channels;
    const float* input;
    const float* mean;  ///< [channels]
};

/// For one width of vectors; what is not an image is [channels].
struct NormLoops {
    void (*sum_pixels)(const NormalisedImage& image, float* sums);  ///< reads no mean
    /// Sums the squares of the deviations from the mean.
    void (*sum_squares)(const NormalisedImage& image, float* sums);
    /// output = (input - mean) * factor + bias
    void (*scale)(const NormalisedImage& image, const float* factor, const float* bias,
                  float* output);
    /// Sums the gradient that is given, and its products with input - mean.
    void (*sum_gradients)(const NormalisedImage& image, const float* given, float* sums,
                          float* products);
    /// gradient = given * factor - (input - mean) * slope - shift
    void (*write_gradients)(const NormalisedImage& image, const float* given, const float* factor,
                            const float* slope, const float* shift, float* gradient);
};

}  // namespace ako
