// Augmentation: images of the training set as they look from pass to pass, cut out at random of the
// image with a frame around it, and mirrored left to right or not. As He, Zhang, Ren, Sun, "Deep
// Residual Learning for Image Recognition", 2015, section 4.2, train on CIFAR-10 (crop 4, flip).
// What becomes of an image follows from a seed and a number alone: the same bits on every machine.
// A value; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "ako/types.h"
#include "models/model_settings.h"

namespace ako {

class Augmentation {
  public:
    Augmentation(const AugmentationSettings& settings, std::uint64_t seed)
        : settings_(settings), seed_(seed) {}

    /// Or does every image stay as it is?
    bool changes() const { return settings_.crop > 0 || settings_.flip; }

    /// Writes what becomes of `image` to `out`, both [shape] and normalised already, so that the
    /// frame's zeros are the mean colour. Different memory.
    void apply(const Shape& shape, std::span<const float> image, std::uint64_t number,
               std::span<float> out) const;

  private:
    AugmentationSettings settings_;
    std::uint64_t seed_;
};

}  // namespace ako
