// Reads NumPy's arrays: .npy files, as numpy.save writes them (NumPy's NEP 1), and members of .npz
// archives (npz.h).
//
//   "\x93NUMPY", u8 major version, u8 minor version
//   header bytes, little-endian: u16 in version 1, u32 in 2 and 3
//   header: {'descr': '|u1', 'fortran_order': False, 'shape': (60000, 28, 28), }, spaces, newline
//   elements, and nothing after them
//
// uint8 and float32 are read into place. Other numbers, orders of bytes and orders of elements are
// converted piece by piece where nothing is lost but the rounding of float64, and a note says so.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "models/byte_source.h"
#include "models/images.h"

namespace ako {

/// Where an array lies: in a file of its own, or in an archive.
struct ArrayPlace {
    ArrayPlace(std::string file, std::string array = "")  // NOLINT: a path is a place
        : path(std::move(file)), member(std::move(array)) {}

    /// For people: "train.npz: images".
    std::string text() const { return member.empty() ? path : path + ": " + member; }

    std::string path;
    std::string member;  ///< of an archive; else empty
};

/// What an array came to, and what was changed for it, in words without an end; often nothing.
struct NotedImages {
    Images images;
    std::string note;
};
struct NotedLabels {
    Labels labels;
    std::string note;
};

/// [count, height, width] or [count, height, width, channels], of any numbers that float32 holds:
/// bool is 0 and 1, and integers but for uint8 are taken as they are. Throws StartupError that
/// names the array, what is wrong with it, and what to do in NumPy: not such an array, other
/// dimensions, too short or too long, numbers that are not finite or beyond float32.
NotedImages read_npy_images(const ArrayPlace& place);

/// [count] or [count, 1], any whole numbers. Likewise; and for a label that is not below
/// `class_count`.
NotedLabels read_npy_labels(const ArrayPlace& place, std::size_t class_count);

/// What the images or the labels in it take in memory, by its header alone; throws as the readers.
std::size_t npy_image_bytes(const ArrayPlace& place);
std::size_t npy_label_bytes(const ArrayPlace& place);

}  // namespace ako
