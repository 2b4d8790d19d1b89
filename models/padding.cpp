#include "models/padding.h"

#include <algorithm>
#include <string>

#include "ako/assert.h"

namespace ako {

namespace {

/// Which place of the image, 0 .. extent - 1, each place of the frame repeats.
std::vector<std::size_t> sources(std::size_t extent, std::size_t width, PaddingMode mode) {
    std::vector<std::size_t> places(extent + 2 * width);
    for (std::size_t k = 0; k < places.size(); ++k) {
        const std::size_t before = k < width ? width - k : 0;  // so far outside
        const std::size_t after = k >= width + extent ? k - (width + extent) + 1 : 0;
        const bool reflect = mode == PaddingMode::reflect;
        places[k] = before > 0  ? (reflect ? before : 0)
                    : after > 0 ? extent - 1 - (reflect ? after : 0)
                                : k - width;
    }
    return places;
}

}  // namespace

Padding::Padding(Shape image, std::size_t width, PaddingMode mode)
    : image_(image),
      width_(width),
      mode_(mode),
      framed_{image.height + 2 * width, image.width + 2 * width, image.channels} {
    if (mode == PaddingMode::zeros) return;
    AKO_ASSERT(mode != PaddingMode::reflect || width < std::min(image.height, image.width),
               "a reflected frame of " + std::to_string(width));
    rows_ = sources(image.height, width, mode);
    columns_ = sources(image.width, width, mode);
}

/// Calls visit(first element of the image's row, first of the frame's row) for every row of every
/// frame that has something of the image in it.
template <class Visit>
void Padding::for_each_row(std::size_t image_count, Visit visit) const {
    const bool all = mode_ != PaddingMode::zeros;
    const std::size_t first = all ? 0 : width_;
    const std::size_t end = all ? framed_.height : width_ + image_.height;
    for (std::size_t n = 0; n < image_count; ++n)
        for (std::size_t y = first; y < end; ++y) {
            const std::size_t source = all ? rows_[y] : y - width_;
            visit((n * image_.height + source) * image_.width * image_.channels,
                  (n * framed_.height + y) * framed_.width * framed_.channels);
        }
}

/// Calls visit(element of the image's row, element of the frame's row) for the first channel of
/// every pixel to the left and to the right of the image.
template <class Visit>
void Padding::for_each_border_pixel(Visit visit) const {
    for (std::size_t k = 0; k < 2 * width_; ++k) {
        const std::size_t x = k < width_ ? k : image_.width + k;
        visit(columns_[x] * image_.channels, x * image_.channels);
    }
}

void Padding::frame(const float* images, std::size_t image_count, float* frames) const {
    const std::size_t channels = image_.channels;
    for_each_row(image_count, [&](std::size_t from, std::size_t to) {
        std::copy_n(images + from, image_.width * channels, frames + to + width_ * channels);
        if (mode_ == PaddingMode::zeros) return;
        for_each_border_pixel([&](std::size_t pixel, std::size_t place) {
            std::copy_n(images + from + pixel, channels, frames + to + place);
        });
    });
}

void Padding::unframe(const float* frames, std::size_t image_count, float* images) const {
    const std::size_t channels = image_.channels;
    if (mode_ == PaddingMode::zeros) {
        for_each_row(image_count, [&](std::size_t to, std::size_t from) {
            std::copy_n(frames + from + width_ * channels, image_.width * channels, images + to);
        });
        return;
    }
    const auto add = [&](std::size_t to, std::size_t from, std::size_t count) {
        float* __restrict target = images + to;
        const float* __restrict source = frames + from;
        for (std::size_t k = 0; k < count; ++k) target[k] += source[k];
    };
    std::fill_n(images, image_count * image_.element_count(), 0.0f);
    for_each_row(image_count, [&](std::size_t to, std::size_t from) {
        add(to, from + width_ * channels, image_.width * channels);
        for_each_border_pixel(
            [&](std::size_t pixel, std::size_t place) { add(to + pixel, from + place, channels); });
    });
}

}  // namespace ako
