// Reads CIFAR-10 (Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009) from
// the files of its published "binary version": data_batch_1.bin to data_batch_5.bin,
// test_batch.bin, each with any number of records of
//
//   u8 label, then 32 x 32 bytes of red, of green and of blue, row-major
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/images.h"

namespace ako {

struct LabelledImages {
    Images images;
    Labels labels;
    std::string path;                ///< of the images, for complaints
    std::vector<std::string> notes;  ///< see Dataset
};

/// Reads the five training files, or the test file, from `folder` or from cifar-10-batches-bin in
/// it, which is what the published archive unpacks to. Throws StartupError that names the file: not
/// there, not a whole number of records, a label above 9 or not below `class_count`.
LabelledImages read_cifar10(const std::string& folder, bool train, std::size_t class_count);

/// What a part takes in memory, by the sizes of its files alone, of which a compressed one counts
/// nothing; throws as the reader.
std::size_t cifar10_bytes(const std::string& folder, bool train);

}  // namespace ako
