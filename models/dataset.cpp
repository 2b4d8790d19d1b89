#include "models/dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "ako/assert.h"
#include "ako/error.h"
#include "models/cifar10.h"
#include "models/data_cut.h"
#include "models/eigen_maps.h"
#include "models/idx.h"
#include "models/npy.h"
#include "models/npy_part.h"
#include "models/shape_text.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

std::string find_idx_file(const std::string& folder, const std::string& name) {
    const auto plain = fs::path(folder) / name;
    const auto compressed = fs::path(folder) / (name + ".gz");
    std::error_code ignored;
    if (fs::exists(plain, ignored)) return plain.string();
    if (fs::exists(compressed, ignored)) return compressed.string();
    throw StartupError(plain.string() + ": there is no such file, nor " + compressed.string(),
                       "set data.path to the folder that holds MNIST's four idx files, or "
                       "data.format to what is there");
}

/// Where the images of a part lie, and its labels.
struct PartFiles {
    std::string images, labels;
};

PartFiles idx_files(const std::string& folder, bool train) {
    const std::string kind = train ? "train" : "t10k";
    return {find_idx_file(folder, kind + "-images-idx3-ubyte"),
            find_idx_file(folder, kind + "-labels-idx1-ubyte")};
}

LabelledImages read_idx(const PartFiles& files, std::size_t class_count) {
    Images images = read_idx_images(files.images);
    return {std::move(images), read_idx_labels(files.labels, class_count), files.images, {}};
}

LabelledImages read_npy(const NpyPart& part, std::size_t class_count) {
    NotedImages images = read_npy_images(part.images);
    NotedLabels labels = read_npy_labels(part.labels, class_count);
    LabelledImages set{std::move(images.images), std::move(labels.labels), part.images.text(), {}};
    if (!images.note.empty()) set.notes.push_back(part.images.text() + ": " + images.note);
    if (!labels.note.empty()) set.notes.push_back(part.labels.text() + ": " + labels.note);
    return set;
}

LabelledImages read_part(const DataSettings& settings, bool train, std::size_t class_count) {
    switch (settings.format) {
        case DataFormat::idx:
            return read_idx(idx_files(settings.path, train), class_count);
        case DataFormat::cifar10:
            return read_cifar10(settings.path, train, class_count);
        case DataFormat::npy:
            return read_npy(find_npy_part(settings.path, train), class_count);
    }
    AKO_BUG("data format " + std::to_string(static_cast<int>(settings.format)));
}

void check_channels(const std::vector<double>& numbers, const std::string& name,
                    std::size_t channels) {
    if (numbers.size() == 1 || numbers.size() == channels) return;
    throw StartupError("data.normalisation." + name + ": " + std::to_string(numbers.size()) +
                           " numbers for images of " + std::to_string(channels) + " channels",
                       "give one number, or one for each channel");
}

/// Every cut must have something of the image in it.
void check_crop(std::size_t crop, const Shape& shape) {
    const std::size_t side = std::min(shape.height, shape.width);
    if (crop < side) return;
    throw StartupError(
        "data.augmentation.crop: " + std::to_string(crop) + " pixels around images of " +
            text_of(shape) + " (height x width x channels) have cuts without anything of the image",
        "it must be below " + std::to_string(side) + "; an eighth of the side is usual");
}

/// Do images that were read with channels last have them first?
bool channels_first(const Shape& found, const Shape& wanted) {
    if (Shape{found.width, found.channels, found.height} == wanted) return true;
    constexpr std::size_t channels_of_colour = 4;  // with the fourth for transparency
    return found.height <= channels_of_colour && found.width > channels_of_colour &&
           found.channels > channels_of_colour;
}

std::string other_shape_remedy(DataFormat format, const Shape& found, const Shape& wanted) {
    if (format == DataFormat::npy && channels_first(found, wanted))
        return "if channels come first here, save images.transpose(0, 2, 3, 1): they come last";
    return "set model.input to the images' shape in a list of layers of your own (`ako check FILE "
           "--model` prints one), or point data.path at other images";
}

}  // namespace

Dataset::Dataset(Images images, Labels labels, const Normalisation& normalisation,
                 std::vector<std::string> notes)
    : images_(std::move(images)),
      labels_(std::move(labels)),
      notes_(std::move(notes)),
      mean_(normalisation.mean.begin(), normalisation.mean.end()),
      deviation_(normalisation.deviation.begin(), normalisation.deviation.end()) {
    AKO_ASSERT(
        images_.count == labels_.size() &&
            images_.bytes.size() + images_.numbers.size() == images_.count * image_elements(),
        std::to_string(images_.count) + " images, " + std::to_string(labels_.size()) + " labels");
    // One number for all channels stands for as many equal ones if the other has several.
    const std::size_t kinds = std::max(mean_.size(), deviation_.size());
    mean_.resize(kinds, mean_.front());
    deviation_.resize(kinds, deviation_.front());
    AKO_ASSERT(kinds == 1 || kinds == images_.shape.channels,
               std::to_string(kinds) + " normalisations of images of " + text_of(images_.shape));
    values_.assign(kinds, std::vector<float>(256));
    for (std::size_t c = 0; c < kinds; ++c)
        for (std::size_t byte = 0; byte < 256; ++byte)
            values_[c][byte] = (static_cast<float>(byte) / 255.0f - mean_[c]) / deviation_[c];
}

std::size_t Dataset::bytes() const {
    return images_.bytes.size() + images_.numbers.size() * sizeof(float) + labels_.size();
}

std::span<const std::byte> Dataset::image_bytes(std::size_t first, std::size_t count) const {
    const std::size_t from = first * image_elements();
    const std::size_t elements = count * image_elements();
    if (!images_.bytes.empty())
        return std::as_bytes(std::span(images_.bytes).subspan(from, elements));
    return std::as_bytes(std::span(images_.numbers).subspan(from, elements));
}

void Dataset::copy_normalised(std::size_t index, float* out) const {
    const std::size_t kinds = values_.size();
    const std::size_t first = index * image_elements();
    if (!images_.bytes.empty()) {
        const std::uint8_t* bytes = &images_.bytes[first];
        for (std::size_t c = 0; c < kinds; ++c) {
            const float* values = values_[c].data();
            for (std::size_t k = c; k < image_elements(); k += kinds) out[k] = values[bytes[k]];
        }
        return;
    }
    const auto numbers =
        as_rows(std::span(images_.numbers).subspan(first, image_elements()), kinds);
    auto normalised = as_rows(std::span(out, image_elements()), kinds);
    for (std::size_t c = 0; c < kinds; ++c) {
        const Eigen::Index kind = eigen_index(c);
        normalised.col(kind) = (numbers.col(kind) - mean_[c]) / deviation_[c];
    }
}

namespace {

/// Are the samples of a part in the files of the training set?
bool in_training_files(const DataSettings& settings, DataPart part) {
    return part == DataPart::train || settings.validation > 0;
}

std::size_t file_bytes(const DataSettings& settings, bool train) {
    switch (settings.format) {
        case DataFormat::idx: {
            const PartFiles files = idx_files(settings.path, train);
            return idx_image_bytes(files.images) + idx_label_bytes(files.labels);
        }
        case DataFormat::cifar10:
            return cifar10_bytes(settings.path, train);
        case DataFormat::npy: {
            const NpyPart files = find_npy_part(settings.path, train);
            return npy_image_bytes(files.images) + npy_label_bytes(files.labels);
        }
    }
    AKO_BUG("data format " + std::to_string(static_cast<int>(settings.format)));
}

}  // namespace

std::size_t dataset_bytes(const DataSettings& settings, DataPart part) {
    const std::size_t bytes = file_bytes(settings, in_training_files(settings, part));
    // All of the training set is in memory before it is cut.
    if (part == DataPart::train || !is_cut(settings, part)) return bytes;
    return static_cast<std::size_t>(std::ceil(static_cast<double>(bytes) * settings.validation));
}

Dataset load_dataset(const DataSettings& settings, DataPart part, const DataShape& wanted) {
    LabelledImages set = read_part(settings, in_training_files(settings, part), wanted.class_count);
    Images& images = set.images;
    if (images.count != set.labels.size())
        throw StartupError(set.path + ": " + std::to_string(images.count) + " images, but " +
                               std::to_string(set.labels.size()) + " labels beside them",
                           "both files must come from the same data set");
    if (images.count == 0)
        throw StartupError(set.path + ": holds no images", "training needs at least one");
    if (images.shape != wanted.image)
        throw StartupError(set.path + ": the images are of " + text_of(images.shape) +
                               " (height x width x channels), the network takes " +
                               text_of(wanted.image),
                           other_shape_remedy(settings.format, images.shape, wanted.image));
    check_channels(settings.mean, "mean", images.shape.channels);
    check_channels(settings.deviation, "deviation", images.shape.channels);
    check_crop(settings.augmentation.crop, images.shape);
    if (is_cut(settings, part)) {
        keep_places(places_of(settings, part, images.count), images, set.labels);
        if (images.count == 0)
            throw StartupError(set.path + ": data.validation and data.subset leave no images",
                               "give each a larger share");
    }
    return Dataset(std::move(set.images), std::move(set.labels),
                   {settings.mean, settings.deviation}, std::move(set.notes));
}

void BatchBuffer::resize(std::size_t count, std::size_t image_elements) {
    images_.resize(count * image_elements);
    labels_.resize(count);
}

void BatchBuffer::set(std::size_t place, const Dataset& dataset, std::size_t index) {
    dataset.copy_normalised(index, &images_[place * dataset.image_elements()]);
    labels_[place] = dataset.label(index);
}

void BatchBuffer::set(std::size_t place, const Dataset& dataset, std::size_t index,
                      const Augmentation& augmentation, std::uint64_t number) {
    if (!augmentation.changes()) return set(place, dataset, index);
    const std::size_t elements = dataset.image_elements();
    plain_.resize(elements);
    dataset.copy_normalised(index, plain_.data());
    augmentation.apply(dataset.shape(), plain_, number,
                       std::span(images_).subspan(place * elements, elements));
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
