// Reads .npy files, as numpy.save writes them (NumPy's NEP 1):
//
//   "\x93NUMPY", u8 major version, u8 minor version
//   header bytes, little-endian: u16 in version 1, u32 in 2 and 3
//   header: {'descr': '|u1', 'fortran_order': False, 'shape': (60000, 28, 28), }, spaces, newline
//   elements, little-endian, row-major, and nothing after them
#pragma once

#include <cstddef>
#include <string>

#include "models/images.h"

namespace ako {

/// [count, height, width] or [count, height, width, channels], uint8 or float32.
/// Throws StartupError that names the file, what is wrong with it, and what to do in NumPy: not
/// such an array, another type, other dimensions, Fortran order, too short or too long, a float
/// that is not finite.
Images read_npy_images(const std::string& path);

/// [count], any integer type. Likewise; and for a label that is not below `class_count`.
Labels read_npy_labels(const std::string& path, std::size_t class_count);

/// What the images or the labels in it take in memory, by its header alone; throws as the readers.
std::size_t npy_image_bytes(const std::string& path);
std::size_t npy_label_bytes(const std::string& path);

}  // namespace ako
