#include "models/idx.h"

#include <algorithm>
#include <span>

#include "models/data_file.h"

namespace ako {

namespace {

using Bytes = std::vector<std::uint8_t>;

std::uint32_t big_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
           std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

/// The magic number and so many extents.
constexpr std::size_t header_bytes_of(std::size_t extent_count) { return 4 + 4 * extent_count; }

/// What the header announces, no more than is in the file where that is known; 0 for a file that
/// does not begin with such a header, which its reader refuses.
std::size_t announced_bytes(const std::string& path, std::size_t extent_count) {
    const std::size_t header_bytes = header_bytes_of(extent_count);
    const std::optional<std::size_t> plain = plain_file_bytes(path);
    const Bytes head = data_file_head(path, header_bytes);
    if (head.size() < header_bytes || big_endian(head.data()) != 0x800 + extent_count) return 0;
    std::size_t bytes = 1;
    for (std::size_t d = 0; d < extent_count; ++d)
        bytes = std::min(bytes * big_endian(&head[4 + 4 * d]), data_file_bytes_max);
    return plain ? std::min(bytes, *plain) : bytes;
}

/// Splits a file into extents, given out, and elements, which are left in the returned vector.
Bytes read_idx(const std::string& path, std::span<std::size_t> extents) {
    Bytes bytes = read_data_file(path);
    const std::size_t header_bytes = header_bytes_of(extents.size());
    if (bytes.size() < header_bytes)
        damaged_data_file(path, "ends within the header: expected at least " +
                                    std::to_string(header_bytes) + " bytes, found " +
                                    std::to_string(bytes.size()));
    const auto magic = static_cast<std::uint32_t>(0x800 + extents.size());
    if (big_endian(bytes.data()) != magic)
        damaged_data_file(path, "wrong magic number: expected " + std::to_string(magic) +
                                    ", found " + std::to_string(big_endian(bytes.data())));
    std::size_t expected = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        extents[d] = big_endian(&bytes[4 + 4 * d]);
        // At most 2^31 * 2^32 before the check: no overflow.
        expected *= extents[d];
        if (expected > data_file_bytes_max)
            damaged_data_file(path, "its header announces more than " +
                                        std::to_string(data_file_bytes_max) + " bytes");
    }
    const std::size_t found = bytes.size() - header_bytes;
    if (found != expected)
        damaged_data_file(path, "wrong size: its header announces " + std::to_string(expected) +
                                    " bytes of data, found " + std::to_string(found));
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes));
    return bytes;
}

}  // namespace

std::size_t idx_image_bytes(const std::string& path) { return announced_bytes(path, 3); }
std::size_t idx_label_bytes(const std::string& path) { return announced_bytes(path, 1); }

Images read_idx_images(const std::string& path) {
    std::size_t extents[3];
    Images images;
    images.bytes = read_idx(path, extents);
    images.count = extents[0];
    images.shape = {extents[1], extents[2], 1};
    if (images.shape.element_count() == 0)
        damaged_data_file(path, "images of " + std::to_string(extents[1]) + " x " +
                                    std::to_string(extents[2]) + " pixels");
    return images;
}

Labels read_idx_labels(const std::string& path, std::size_t class_count) {
    std::size_t extents[1];
    Labels labels = read_idx(path, extents);
    for (std::size_t item = 0; item < labels.size(); ++item)
        check_label(path, item, labels[item], class_count);
    return labels;
}

}  // namespace ako
