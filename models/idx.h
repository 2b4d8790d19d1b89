// Reads idx files, the format of MNIST, plain or compressed with gzip. All integers big-endian:
//
//   u8 0, u8 0, u8 element type (8: unsigned byte), u8 number of dimensions d
//   u32 extents[d]
//   elements, row-major, and nothing after them
//
// Images have three dimensions (count, rows, columns), labels one. Any number of items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ako {

/// The most a file may hold once decompressed: 40 times MNIST, and a bound on what a damaged or
/// malicious file can make us allocate.
inline constexpr std::size_t idx_bytes_max = std::size_t{2} << 30;

struct IdxImages {
    std::size_t count = 0;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<std::uint8_t> pixels;  ///< [count x rows x columns]
};

/// Both throw StartupError with the path, what was expected and what was found: not readable,
/// damaged compression, wrong magic number, fewer or more bytes than the extents say, an image
/// without pixels, a label not below `label_bound`.
IdxImages read_idx_images(const std::string& path);
std::vector<std::uint8_t> read_idx_labels(const std::string& path, std::size_t label_bound);

}  // namespace ako
