// A labelled set of grey images, as it comes from the files of MNIST (LeCun, Cortes, Burges, "The
// MNIST database of handwritten digits"): one byte per pixel. Immutable once loaded; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ako/network.h"
#include "models/idx.h"

namespace ako {

/// Mean and standard deviation of the pixels of MNIST's training images, scaled to 0 .. 1.
inline constexpr float pixel_mean = 0.1307f;
inline constexpr float pixel_deviation = 0.3081f;

class Dataset {
  public:
    /// One label per image.
    Dataset(IdxImages images, std::vector<std::uint8_t> labels);

    std::size_t size() const { return labels_.size(); }
    std::size_t rows() const { return images_.rows; }
    std::size_t columns() const { return images_.columns; }
    std::size_t image_elements() const { return images_.rows * images_.columns; }
    std::span<const std::uint8_t> pixels(std::size_t index) const {
        return std::span(images_.pixels).subspan(index * image_elements(), image_elements());
    }
    std::uint8_t label(std::size_t index) const { return labels_[index]; }

    /// Writes (pixel / 255 - pixel_mean) / pixel_deviation to `out` [image_elements].
    void copy_normalised(std::size_t index, float* out) const;

  private:
    IdxImages images_;
    std::vector<std::uint8_t> labels_;
};

/// Reads `train-images-idx3-ubyte` and `train-labels-idx1-ubyte`, plain or with `.gz`, from a
/// folder. Throws StartupError: a file is missing, damaged, empty, or they do not belong together.
Dataset load_mnist_train(const std::string& folder);
/// The same of `t10k-images-idx3-ubyte` and `t10k-labels-idx1-ubyte`.
Dataset load_mnist_test(const std::string& folder);

/// A batch's memory, reused from batch to batch.
class BatchBuffer {
  public:
    /// Room for `count` images of `image_elements`.
    void resize(std::size_t count, std::size_t image_elements);
    /// Puts image `index` of the data set at `place`.
    void set(std::size_t place, const Dataset& dataset, std::size_t index);
    Batch batch() const { return {images_, labels_, labels_.size()}; }

  private:
    std::vector<float> images_;
    std::vector<std::uint8_t> labels_;
};

/// A data set in its own order, for evaluation. The data set must outlive it. One thread at a time.
class SequentialBatches {
  public:
    explicit SequentialBatches(const Dataset& dataset) : dataset_(dataset) {}

    /// Images [first, first + count), cut off at the end of the set; valid until the next call.
    Batch slice(std::size_t first, std::size_t count);

  private:
    const Dataset& dataset_;
    BatchBuffer buffer_;
};

}  // namespace ako
