// Reads idx files, the format of MNIST, plain or compressed with gzip. All integers big-endian:
//
//   u8 0, u8 0, u8 element type (8: unsigned byte), u8 number of dimensions d
//   u32 extents[d]
//   elements, row-major, and nothing after them
//
// Images have three dimensions (count, rows, columns), labels one. Any number of items.
#pragma once

#include <cstddef>
#include <string>

#include "models/images.h"

namespace ako {

/// Both throw StartupError with the path, what was expected and what was found: not readable,
/// damaged compression, wrong magic number, fewer or more bytes than the extents say, an image
/// without pixels, a label not below `class_count`.
Images read_idx_images(const std::string& path);
Labels read_idx_labels(const std::string& path, std::size_t class_count);

/// What the images or the labels in it take in memory, by its header alone; 0 where it is damaged.
std::size_t idx_image_bytes(const std::string& path);
std::size_t idx_label_bytes(const std::string& path);

}  // namespace ako
