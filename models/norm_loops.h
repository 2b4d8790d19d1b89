// The loops of group normalisation over the pixels of one image; for the files vector_loops_*
// alone. Some channels at a time go through all pixels, so that what belongs to a channel stays in
// registers. Functions, any thread.
#pragma once

#include "models/normalised_image.h"
#include "models/vectors.h"

namespace ako {
namespace {

/// Calls visit(first channel, how many) for some channels at a time.
template <class Visit>
inline void visit_channels(std::size_t channels, Visit visit) {
    for (std::size_t c = 0; c < channels; c += lanes)
        visit(c, channels - c < lanes ? channels - c : lanes);
}

/// The sum of term(pixel's first element) over all pixels: four sums side by side, for none is to
/// wait for the one before.
template <class Term>
inline Vector sum_over_pixels(const NormalisedImage& image, Term term) {
    Vector sums[4] = {};
    std::size_t p = 0;
    for (; p + 4 <= image.pixels; p += 4)
        for (std::size_t k = 0; k < 4; ++k) sums[k] += term((p + k) * image.channels);
    for (; p < image.pixels; ++p) sums[0] += term(p * image.channels);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void sum_pixels(const NormalisedImage& image, float* sums) {
    visit_channels(image.channels, [&](std::size_t c, std::size_t count) {
        const float* input = image.input + c;
        store(sum_over_pixels(image, [&](std::size_t k) { return load(input + k, count); }),
              sums + c, count);
    });
}

void sum_squares(const NormalisedImage& image, float* sums) {
    visit_channels(image.channels, [&](std::size_t c, std::size_t count) {
        const float* input = image.input + c;
        const Vector mean = load(image.mean + c, count);
        const auto square = [&](std::size_t k) {
            const Vector deviation = load(input + k, count) - mean;
            return deviation * deviation;
        };
        store(sum_over_pixels(image, square), sums + c, count);
    });
}

void scale_pixels(const NormalisedImage& image, const float* factor, const float* bias,
                  float* output) {
    visit_channels(image.channels, [&](std::size_t c, std::size_t count) {
        const Vector mean = load(image.mean + c, count);
        const Vector scale = load(factor + c, count), shift = load(bias + c, count);
        for (std::size_t k = c; k < image.pixels * image.channels; k += image.channels)
            store((load(image.input + k, count) - mean) * scale + shift, output + k, count);
    });
}

void sum_gradients(const NormalisedImage& image, const float* given, float* sums,
                   float* products) {
    visit_channels(image.channels, [&](std::size_t c, std::size_t count) {
        const float* input = image.input + c;
        const Vector mean = load(image.mean + c, count);
        const auto gradient = [&](std::size_t k) { return load(given + c + k, count); };
        const auto product = [&](std::size_t k) {
            return gradient(k) * (load(input + k, count) - mean);
        };
        store(sum_over_pixels(image, gradient), sums + c, count);
        store(sum_over_pixels(image, product), products + c, count);
    });
}

void write_gradients(const NormalisedImage& image, const float* given, const float* factor,
                     const float* slope, const float* shift, float* gradient) {
    visit_channels(image.channels, [&](std::size_t c, std::size_t count) {
        const Vector mean = load(image.mean + c, count);
        const Vector scale = load(factor + c, count);
        const Vector of_input = load(slope + c, count), less = load(shift + c, count);
        for (std::size_t k = c; k < image.pixels * image.channels; k += image.channels)
            store(load(given + k, count) * scale - less -
                      (load(image.input + k, count) - mean) * of_input,
                  gradient + k, count);
    });
}

constexpr NormLoops norm_loops() {
    return {sum_pixels, sum_squares, scale_pixels, sum_gradients, write_gradients};
}

}  // namespace
}  // namespace ako
