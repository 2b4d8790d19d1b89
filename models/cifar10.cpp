#include "models/cifar10.h"

#include <cstdint>
#include <filesystem>
#include <vector>

#include "ako/error.h"
#include "models/data_file.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

constexpr Shape image_shape{32, 32, 3};
constexpr std::size_t plane_bytes = std::size_t{32} * 32;
constexpr std::size_t record_bytes = 1 + 3 * plane_bytes;
constexpr int train_files = 5;

std::string find_folder(const std::string& folder) {
    for (const fs::path& place : {fs::path(folder), fs::path(folder) / "cifar-10-batches-bin"}) {
        std::error_code ignored;
        if (fs::exists(place / "test_batch.bin", ignored)) return place.string();
    }
    throw StartupError(folder + ": no test_batch.bin in it, nor in cifar-10-batches-bin below it",
                       "set data.path to the folder that cifar-10-binary.tar.gz was unpacked in; "
                       "experiments/cifar10/fetch downloads, checks and unpacks it");
}

std::vector<std::string> files_of(const fs::path& place, bool train) {
    if (!train) return {(place / "test_batch.bin").string()};
    std::vector<std::string> files;
    for (int k = 1; k <= train_files; ++k)
        files.push_back((place / ("data_batch_" + std::to_string(k) + ".bin")).string());
    return files;
}

void append(const std::string& path, std::size_t class_count, LabelledImages& set) {
    const std::vector<std::uint8_t> bytes = read_data_file(path);
    if (bytes.empty() || bytes.size() % record_bytes != 0)
        damaged_data_file(path, "wrong size: expected records of " + std::to_string(record_bytes) +
                                    " bytes, found " + std::to_string(bytes.size()) + " bytes");
    std::size_t next = set.images.bytes.size();
    set.images.bytes.resize(next + bytes.size() / record_bytes * image_shape.element_count());
    for (std::size_t first = 0; first < bytes.size(); first += record_bytes) {
        check_label(path, first / record_bytes, bytes[first], class_count);
        set.labels.push_back(bytes[first]);
        const std::uint8_t* red = &bytes[first + 1];
        for (std::size_t pixel = 0; pixel < plane_bytes; ++pixel)
            for (std::size_t channel = 0; channel < image_shape.channels; ++channel)
                set.images.bytes[next++] = red[channel * plane_bytes + pixel];
    }
}

}  // namespace

std::size_t cifar10_bytes(const std::string& folder, bool train) {
    std::size_t sum = 0;
    for (const std::string& path : files_of(find_folder(folder), train))
        sum += plain_file_bytes(path).value_or(0);
    return sum;
}

LabelledImages read_cifar10(const std::string& folder, bool train, std::size_t class_count) {
    const fs::path place = find_folder(folder);
    LabelledImages set;
    set.images.shape = image_shape;
    set.path = place.string();
    for (const std::string& path : files_of(place, train)) append(path, class_count, set);
    set.images.count = set.labels.size();
    return set;
}

}  // namespace ako
