// A labelled set of images, from the files of one of the formats, and its batches.
//
//   idx      the four files of MNIST (LeCun, Cortes, Burges, "The MNIST database of handwritten
//            digits"), plain or with `.gz`: train-images-idx3-ubyte, train-labels-idx1-ubyte,
//            t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte
//   cifar10  data_batch_1.bin .. data_batch_5.bin, test_batch.bin: see cifar10.h
//   npy      train_images.npy, train_labels.npy, test_images.npy, test_labels.npy, or .npz
//            archives: see npy.h, npy_part.h
//
// A pixel becomes (value - mean) / deviation of its channel, where the value of a byte is byte /
// 255 and a float is its own. Immutable once loaded; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ako/network.h"
#include "models/augmentation.h"
#include "models/images.h"
#include "models/model_settings.h"

namespace ako {

/// What becomes of pixels: one number for all channels, or one per channel.
struct Normalisation {
    std::vector<double> mean{0};
    std::vector<double> deviation{1};
};

class Dataset {
  public:
    /// One label per image.
    Dataset(Images images, Labels labels, const Normalisation& normalisation = {},
            std::vector<std::string> notes = {});

    std::size_t size() const { return labels_.size(); }
    const Shape& shape() const { return images_.shape; }
    std::size_t image_elements() const { return images_.shape.element_count(); }
    std::uint8_t label(std::size_t index) const { return labels_[index]; }
    /// As they were read; [count x image_elements] of bytes or of float32.
    std::span<const std::byte> image_bytes(std::size_t first, std::size_t count) const;
    std::span<const std::uint8_t> labels(std::size_t first, std::size_t count) const {
        return std::span(labels_).subspan(first, count);
    }
    /// As held in memory.
    std::size_t bytes() const;
    /// What was changed as it was read, a line each, with the file: "x.npy: float64 is read as
    /// ...".
    const std::vector<std::string>& notes() const { return notes_; }

    /// Writes the normalised image to `out` [image_elements].
    void copy_normalised(std::size_t index, float* out) const;

  private:
    Images images_;
    Labels labels_;
    std::vector<std::string> notes_;
    // One number for each channel, or one for all.
    std::vector<float> mean_;
    std::vector<float> deviation_;
    std::vector<std::vector<float>> values_;  ///< [channel, or 0 for all][byte]: normalised
};

enum class DataPart { train, test };

/// What a network takes.
struct DataShape {
    Shape image;
    std::size_t class_count = 0;
};

/// What one part takes once it is loaded, by headers and sizes of files: nothing is read but those.
/// Throws StartupError if there are no such files; what else may be wrong, loading says.
std::size_t dataset_bytes(const DataSettings& settings, DataPart part);

/// Reads one part of the data set in the folder `settings.path`. Throws StartupError: a file is
/// missing, damaged or empty, files do not belong together, images are of another shape than the
/// network takes or smaller than the augmentation, a label is not among its outputs.
Dataset load_dataset(const DataSettings& settings, DataPart part, const DataShape& wanted);

/// A batch's memory, reused from batch to batch.
class BatchBuffer {
  public:
    /// Room for `count` images of `image_elements`.
    void resize(std::size_t count, std::size_t image_elements);
    /// Puts image `index` of the data set at `place`.
    void set(std::size_t place, const Dataset& dataset, std::size_t index);
    /// And what becomes of it with this number: see augmentation.h.
    void set(std::size_t place, const Dataset& dataset, std::size_t index,
             const Augmentation& augmentation, std::uint64_t number);
    Batch batch() const { return {images_, labels_, labels_.size()}; }

  private:
    std::vector<float> images_;
    std::vector<std::uint8_t> labels_;
    std::vector<float> plain_;  ///< an image before its augmentation
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
