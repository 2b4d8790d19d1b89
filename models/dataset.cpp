#include "models/dataset.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "ako/assert.h"
#include "ako/error.h"

namespace ako {

namespace {

/// MNIST has ten classes, and so have the networks that learn from it.
constexpr std::size_t label_bound = 10;

const std::array<float, 256>& normalised_values() {
    static const std::array<float, 256> values = [] {
        std::array<float, 256> table{};
        for (std::size_t pixel = 0; pixel < table.size(); ++pixel)
            table[pixel] = (static_cast<float>(pixel) / 255.0f - pixel_mean) / pixel_deviation;
        return table;
    }();
    return values;
}

std::string find_file(const std::string& folder, const std::string& name) {
    const auto plain = std::filesystem::path(folder) / name;
    const auto compressed = std::filesystem::path(folder) / (name + ".gz");
    std::error_code ignored;
    if (std::filesystem::exists(plain, ignored)) return plain.string();
    if (std::filesystem::exists(compressed, ignored)) return compressed.string();
    throw StartupError(plain.string() + ": there is no such file, nor " + compressed.string(),
                       "set data.path to the folder that holds MNIST's four idx files");
}

Dataset load(const std::string& folder, const std::string& kind) {
    const std::string images_path = find_file(folder, kind + "-images-idx3-ubyte");
    const std::string labels_path = find_file(folder, kind + "-labels-idx1-ubyte");
    IdxImages images = read_idx_images(images_path);
    std::vector<std::uint8_t> labels = read_idx_labels(labels_path, label_bound);
    if (images.count != labels.size())
        throw StartupError(labels_path + ": " + std::to_string(labels.size()) + " labels for the " +
                               std::to_string(images.count) + " images of " + images_path,
                           "both files must come from the same data set");
    if (labels.empty())
        throw StartupError(images_path + ": holds no images", "training needs at least one");
    return Dataset(std::move(images), std::move(labels));
}

}  // namespace

Dataset::Dataset(IdxImages images, std::vector<std::uint8_t> labels)
    : images_(std::move(images)), labels_(std::move(labels)) {
    AKO_ASSERT(
        images_.count == labels_.size() &&
            images_.pixels.size() == images_.count * image_elements(),
        std::to_string(images_.count) + " images, " + std::to_string(labels_.size()) + " labels");
}

void Dataset::copy_normalised(std::size_t index, float* out) const {
    const auto& values = normalised_values();
    const auto image = pixels(index);
    for (std::size_t k = 0; k < image.size(); ++k) out[k] = values[image[k]];
}

Dataset load_mnist_train(const std::string& folder) { return load(folder, "train"); }

Dataset load_mnist_test(const std::string& folder) { return load(folder, "t10k"); }

void BatchBuffer::resize(std::size_t count, std::size_t image_elements) {
    images_.resize(count * image_elements);
    labels_.resize(count);
}

void BatchBuffer::set(std::size_t place, const Dataset& dataset, std::size_t index) {
    dataset.copy_normalised(index, &images_[place * dataset.image_elements()]);
    labels_[place] = dataset.label(index);
}

Batch SequentialBatches::slice(std::size_t first, std::size_t count) {
    AKO_ASSERT(first < dataset_.size() && count >= 1,
               "slice at " + std::to_string(first) + " of " + std::to_string(dataset_.size()));
    const std::size_t taken = std::min(count, dataset_.size() - first);
    buffer_.resize(taken, dataset_.image_elements());
    for (std::size_t k = 0; k < taken; ++k) buffer_.set(k, dataset_, first + k);
    return buffer_.batch();
}

}  // namespace ako
