#include "models/data_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <system_error>

#include "ako/error.h"
#include "ako/plain_file.h"

namespace ako {

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

[[noreturn]] void too_large(const std::string& path) {
    throw StartupError(path + ": holds more than " + std::to_string(data_file_bytes_max) +
                           " bytes, the most allowed",
                       "split the data set");
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        throw StartupError(path + ": is a folder, not a file", "see data.path in the cluster file");
    refuse_what_is_no_file(path);
    File file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file)
        throw StartupError(path + ": cannot be opened: " + std::generic_category().message(errno),
                           "check that the file exists and may be read");
    return file;
}

bool begins_as_gzip(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

Bytes read_file(const std::string& path) {
    const File file = open_file(path);
    Bytes bytes;
    for (;;) {
        const std::size_t old_size = bytes.size();
        bytes.resize(old_size + chunk_bytes);
        const std::size_t got = std::fread(bytes.data() + old_size, 1, chunk_bytes, file.get());
        bytes.resize(old_size + got);
        if (bytes.size() > data_file_bytes_max) too_large(path);
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
    stream.avail_in = static_cast<uInt>(compressed.size());  // at most data_file_bytes_max, 31 bits
    Bytes bytes;
    int status = Z_OK;
    while (status == Z_OK) {
        const std::size_t old_size = bytes.size();
        bytes.resize(old_size + chunk_bytes);
        stream.next_out = bytes.data() + old_size;
        stream.avail_out = chunk_bytes;
        status = inflate(&stream, Z_NO_FLUSH);
        bytes.resize(bytes.size() - stream.avail_out);
        if (bytes.size() > data_file_bytes_max) too_large(path);
    }
    if (status == Z_BUF_ERROR) damaged_data_file(path, "the compressed data ends too early");
    if (status != Z_STREAM_END)
        damaged_data_file(path, std::string("the compressed data is damaged: ") +
                                    (stream.msg != nullptr ? stream.msg : zError(status)));
    if (stream.avail_in != 0)
        damaged_data_file(path,
                          std::to_string(stream.avail_in) + " bytes follow the compressed data");
    return bytes;
}

}  // namespace

std::vector<std::uint8_t> read_data_file(const std::string& path) {
    Bytes bytes = read_file(path);
    return begins_as_gzip(bytes) ? decompress(path, bytes) : bytes;
}

std::optional<std::size_t> plain_file_bytes(const std::string& path) {
    // Asked before the file is opened: what opens a pipe takes the pipe's first bytes from its
    // reader.
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) return std::nullopt;
    const File file = open_file(path);
    std::array<std::uint8_t, 4> bytes{};
    const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), file.get());
    if (begins_as_gzip(std::span(bytes).first(got))) return std::nullopt;
    return size;
}

std::vector<std::uint8_t> data_file_head(const std::string& path, std::size_t bytes_max) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return {};
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), &gzclose);
    Bytes bytes(bytes_max);
    const int got = file ? gzread(file.get(), bytes.data(), static_cast<unsigned>(bytes_max)) : 0;
    bytes.resize(static_cast<std::size_t>(std::max(got, 0)));
    return bytes;
}

void damaged_data_file(const std::string& path, const std::string& what) {
    throw StartupError(path + ": " + what,
                       "the file is damaged or of another format: get it again from its source, or "
                       "set data.format");
}

}  // namespace ako
