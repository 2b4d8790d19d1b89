// What a convolution finds around its images: each is copied into a frame, from which all windows
// can be read alike. Around the image a frame has zeros, or what PyTorch's `padding_mode` puts
// there: with `replicate` the nearest pixel, with `reflect` the pixel as far on the other side of
// the edge, whose own pixels come once. A value, constant after construction; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "ako/types.h"
#include "models/model_settings.h"

namespace ako {

class Padding {
  public:
    /// `width`: pixels on each side; with `reflect` below the image's sides.
    Padding(Shape image, std::size_t width, PaddingMode mode);

    bool any() const { return width_ > 0; }
    /// The shape of an image with its frame.
    const Shape& framed() const { return framed_; }

    /// Copies so many images into frames, which hold zeros or other images of this padding.
    void frame(const float* images, std::size_t image_count, float* frames) const;
    /// Writes to each pixel the sum of the gradients at all places of the frame where it stands.
    void unframe(const float* frames, std::size_t image_count, float* images) const;

  private:
    template <class Visit>
    void for_each_row(std::size_t image_count, Visit visit) const;
    template <class Visit>
    void for_each_border_pixel(Visit visit) const;

    const Shape image_;
    const std::size_t width_;
    const PaddingMode mode_;
    const Shape framed_;
    // Which row and which column of the image stands in each of the frame; not with zeros.
    std::vector<std::size_t> rows_;
    std::vector<std::size_t> columns_;
};

}  // namespace ako
