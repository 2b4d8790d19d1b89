#include "models/idx.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <system_error>

#include "ako/error.h"

namespace ako {

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
    throw StartupError(path + ": " + what,
                       "the file is damaged or not an idx file: get it again from its source");
}

[[noreturn]] void too_large(const std::string& path) {
    throw StartupError(
        path + ": holds more than " + std::to_string(idx_bytes_max) + " bytes, the most allowed",
        "split the data set");
}

Bytes read_file(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        throw StartupError(path + ": is a folder, not a file", "see data.path");
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                               &std::fclose);
    if (!file)
        throw StartupError(path + ": cannot be opened: " + std::generic_category().message(errno),
                           "check that the file exists and may be read");
    Bytes bytes;
    for (;;) {
        const std::size_t old_size = bytes.size();
        bytes.resize(old_size + chunk_bytes);
        const std::size_t got = std::fread(bytes.data() + old_size, 1, chunk_bytes, file.get());
        bytes.resize(old_size + got);
        if (bytes.size() > idx_bytes_max) too_large(path);
        if (got == chunk_bytes) continue;
        if (std::ferror(file.get()))
            throw StartupError(path + ": cannot be read: " + std::generic_category().message(errno),
                               "check the disk");
        return bytes;
    }
}

/// Decompresses one gzip member that must fill the file. gzread would do for good files, but takes
/// a member followed by anything else for a good file too.
Bytes decompress(const std::string& path, Bytes& compressed) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    z_stream stream{};
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
    const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, &inflateEnd);
    stream.next_in = compressed.data();
    stream.avail_in = static_cast<uInt>(compressed.size());  // at most idx_bytes_max, 31 bits
    Bytes bytes;
    int status = Z_OK;
    while (status == Z_OK) {
        const std::size_t old_size = bytes.size();
        bytes.resize(old_size + chunk_bytes);
        stream.next_out = bytes.data() + old_size;
        stream.avail_out = chunk_bytes;
        status = inflate(&stream, Z_NO_FLUSH);
        bytes.resize(bytes.size() - stream.avail_out);
        if (bytes.size() > idx_bytes_max) too_large(path);
    }
    if (status == Z_BUF_ERROR) damaged(path, "the compressed data ends too early");
    if (status != Z_STREAM_END)
        damaged(path, std::string("the compressed data is damaged: ") +
                          (stream.msg != nullptr ? stream.msg : zError(status)));
    if (stream.avail_in != 0)
        damaged(path, std::to_string(stream.avail_in) + " bytes follow the compressed data");
    return bytes;
}

std::uint32_t big_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
           std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

/// Splits a file into extents, given out, and elements, which are left in the returned vector.
Bytes read_idx(const std::string& path, std::span<std::size_t> extents) {
    Bytes bytes = read_file(path);
    if (bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) bytes = decompress(path, bytes);
    const std::size_t header_bytes = 4 + 4 * extents.size();
    if (bytes.size() < header_bytes)
        damaged(path, "ends within the header: expected at least " + std::to_string(header_bytes) +
                          " bytes, found " + std::to_string(bytes.size()));
    const auto magic = static_cast<std::uint32_t>(0x800 + extents.size());
    if (big_endian(bytes.data()) != magic)
        damaged(path, "wrong magic number: expected " + std::to_string(magic) + ", found " +
                          std::to_string(big_endian(bytes.data())));
    std::size_t expected = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        extents[d] = big_endian(&bytes[4 + 4 * d]);
        // At most 2^31 * 2^32 before the check: no overflow.
        expected *= extents[d];
        if (expected > idx_bytes_max) too_large(path);
    }
    const std::size_t found = bytes.size() - header_bytes;
    if (found != expected)
        damaged(path, "wrong size: its header announces " + std::to_string(expected) +
                          " bytes of data, found " + std::to_string(found));
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes));
    return bytes;
}

}  // namespace

IdxImages read_idx_images(const std::string& path) {
    std::size_t extents[3];
    IdxImages images;
    images.pixels = read_idx(path, extents);
    images.count = extents[0];
    images.rows = extents[1];
    images.columns = extents[2];
    if (images.rows == 0 || images.columns == 0)
        damaged(path, "images of " + std::to_string(images.rows) + " x " +
                          std::to_string(images.columns) + " pixels");
    return images;
}

std::vector<std::uint8_t> read_idx_labels(const std::string& path, std::size_t label_bound) {
    std::size_t extents[1];
    Bytes labels = read_idx(path, extents);
    const auto wrong = std::find_if(labels.begin(), labels.end(),
                                    [&](std::uint8_t label) { return label >= label_bound; });
    if (wrong != labels.end())
        damaged(path, "label " + std::to_string(*wrong) + " of item " +
                          std::to_string(wrong - labels.begin()) + ": expected 0 to " +
                          std::to_string(label_bound - 1));
    return labels;
}

}  // namespace ako
