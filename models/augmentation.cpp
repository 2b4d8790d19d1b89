#include "models/augmentation.h"

#include <algorithm>

#include "models/random.h"

namespace ako {

namespace {

/// The run of places 0 .. extent - 1 that a cut moved by `shift` less `frame` leaves in the image.
Range inside(std::size_t extent, std::size_t shift, std::size_t frame) {
    const std::size_t first = frame > shift ? frame - shift : 0;
    const std::size_t end = shift > frame ? extent - (shift - frame) : extent;
    return {first, end - first};
}

}  // namespace

void Augmentation::apply(const Shape& shape, std::span<const float> image, std::uint64_t number,
                         std::span<float> out) const {
    RandomStream random(derive_seed(seed_, number));
    const std::size_t frame = settings_.crop;
    const std::size_t down = random.below(2 * frame + 1);
    const std::size_t right = random.below(2 * frame + 1);
    const bool mirrored = settings_.flip && random.below(2) == 1;
    const Range rows = inside(shape.height, down, frame);
    const Range columns = inside(shape.width, right, frame);
    if (rows.count < shape.height || columns.count < shape.width)
        std::fill(out.begin(), out.end(), 0.0f);
    const std::size_t channels = shape.channels;
    const auto element = [&](std::size_t y, std::size_t x) {
        return (y * shape.width + x) * channels;
    };
    for (std::size_t y = rows.first; y < rows.first + rows.count; ++y) {
        const float* from = &image[element(y + down - frame, columns.first + right - frame)];
        if (!mirrored) {
            std::copy_n(from, columns.count * channels, &out[element(y, columns.first)]);
            continue;
        }
        float* to = &out[element(y, shape.width - 1 - columns.first)];
        for (std::size_t x = 0; x < columns.count; ++x, from += channels, to -= channels)
            std::copy_n(from, channels, to);
    }
}

}  // namespace ako
