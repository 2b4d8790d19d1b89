#include "models/safetensors.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "ako/assert.h"
#include "ako/error.h"

namespace ako {

namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored as they lie");

using Json = nlohmann::ordered_json;

/// The Python package refuses longer headers as well.
constexpr std::uint64_t header_bytes_max = 100'000'000;

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
    throw StartupError(path + ": " + what, "the file is damaged or of another network");
}

[[noreturn]] void cannot_write(const std::string& path) {
    throw StartupError(path + ": cannot be written: " + std::generic_category().message(errno),
                       "check the folder, its permissions and the space on the disk");
}

std::string make_header(const std::vector<Tensor>& tensors,
                        const std::map<std::string, std::string>& metadata) {
    Json header = Json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    for (const Tensor& tensor : tensors) {
        const std::size_t begin = tensor.first * sizeof(float);
        const std::size_t end = begin + tensor.element_count() * sizeof(float);
        header[tensor.name] = {
            {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return text;
}

/// A file being written, gone again unless it is given its final name.
class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& final_path)
        : final_path_(final_path),
          path_(final_path + ".partial." + std::to_string(::getpid())),
          descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
        if (descriptor_ < 0) cannot_write(path_);
    }
    ~TemporaryFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
        if (!renamed_) ::unlink(path_.c_str());
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    void write(const void* data, std::size_t bytes) {
        const char* from = static_cast<const char*>(data);
        while (bytes > 0) {
            const ssize_t written = ::write(descriptor_, from, bytes);
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) cannot_write(path_);
            from += written;
            bytes -= static_cast<std::size_t>(written);
        }
    }

    void finish() {
        if (::fsync(descriptor_) != 0) cannot_write(path_);
        const int closed = ::close(std::exchange(descriptor_, -1));
        if (closed != 0) cannot_write(path_);
        if (::rename(path_.c_str(), final_path_.c_str()) != 0) cannot_write(final_path_);
        renamed_ = true;
    }

  private:
    const std::string final_path_;
    const std::string path_;
    int descriptor_;
    bool renamed_ = false;
};

/// Checks what the header says of one tensor; returns its offset in the data.
std::uint64_t check_entry(const std::string& path, const Json& header, const Tensor& tensor,
                          std::uint64_t data_bytes) {
    const auto entry = header.find(tensor.name);
    if (entry == header.end()) damaged(path, "there is no tensor " + tensor.name);
    const Json dtype = entry->is_object() ? entry->value("dtype", Json()) : Json();
    if (dtype != "F32")
        damaged(path, tensor.name + ": expected dtype \"F32\", found " + dtype.dump());
    const Json shape = entry->value("shape", Json());
    if (shape != Json(tensor.shape))
        damaged(path, tensor.name + ": expected shape " + Json(tensor.shape).dump() + ", found " +
                          shape.dump());
    const Json offsets = entry->value("data_offsets", Json());
    const bool numbers = offsets.is_array() && offsets.size() == 2 &&
                         offsets[0].is_number_unsigned() && offsets[1].is_number_unsigned();
    const std::uint64_t begin = numbers ? offsets[0].get<std::uint64_t>() : 1;
    const std::uint64_t end = numbers ? offsets[1].get<std::uint64_t>() : 0;
    const std::uint64_t bytes = tensor.element_count() * sizeof(float);
    if (begin > end || end - begin != bytes || end > data_bytes)
        damaged(path, tensor.name + ": expected " + std::to_string(bytes) + " of the " +
                          std::to_string(data_bytes) + " bytes of data, found data_offsets " +
                          offsets.dump());
    return begin;
}

/// Reads and checks the header; leaves `file` at the data, of which `data_bytes` follow.
Json read_header(const std::string& path, std::ifstream& file, std::uint64_t& data_bytes) {
    std::error_code error;
    const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
    if (error || !file)
        throw StartupError(path + ": cannot be opened: " +
                               (error ? error.message() : std::generic_category().message(errno)),
                           "check that the file exists and may be read");
    std::uint64_t header_bytes = 0;
    if (file_bytes < sizeof(header_bytes)) damaged(path, "ends within the first 8 bytes");
    file.read(reinterpret_cast<char*>(&header_bytes), sizeof(header_bytes));
    if (header_bytes > header_bytes_max || header_bytes > file_bytes - sizeof(header_bytes))
        damaged(path, "announces a header of " + std::to_string(header_bytes) +
                          " bytes in a file of " + std::to_string(file_bytes));
    std::string text(header_bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(header_bytes));
    data_bytes = file_bytes - sizeof(header_bytes) - header_bytes;
    Json header = Json::parse(text, nullptr, false);
    if (!file || !header.is_object()) damaged(path, "its header is not a JSON object");
    return header;
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<Tensor>& tensors,
                       std::span<const float> parameters,
                       const std::map<std::string, std::string>& metadata) {
    std::size_t expected = 0;
    for (const Tensor& tensor : tensors) {
        AKO_ASSERT(tensor.first == expected, tensor.name + " does not follow the tensor before");
        expected += tensor.element_count();
    }
    AKO_ASSERT(parameters.size() == expected, std::to_string(parameters.size()) +
                                                  " parameters for tensors of " +
                                                  std::to_string(expected));
    const std::string header = make_header(tensors, metadata);
    const std::uint64_t header_bytes = header.size();
    TemporaryFile file(path);
    file.write(&header_bytes, sizeof(header_bytes));
    file.write(header.data(), header.size());
    file.write(parameters.data(), parameters.size_bytes());
    file.finish();
}

std::vector<float> read_safetensors(const std::string& path, const std::vector<Tensor>& tensors) {
    std::ifstream file(path, std::ios::binary);
    std::uint64_t data_bytes = 0;
    const Json header = read_header(path, file, data_bytes);
    const std::streamoff data_start = file.tellg();
    std::size_t element_count = 0;
    for (const Tensor& tensor : tensors) element_count += tensor.element_count();
    const std::size_t entries = header.size() - header.count("__metadata__");
    if (entries != tensors.size())
        damaged(path, "expected " + std::to_string(tensors.size()) + " tensors, found " +
                          std::to_string(entries));
    if (data_bytes != element_count * sizeof(float))
        damaged(path, "expected " + std::to_string(element_count * sizeof(float)) +
                          " bytes of data, found " + std::to_string(data_bytes));
    std::vector<float> parameters(element_count);
    std::map<std::uint64_t, std::uint64_t> extents;  // begin to end
    for (const Tensor& tensor : tensors) {
        const std::uint64_t begin = check_entry(path, header, tensor, data_bytes);
        extents[begin] = begin + tensor.element_count() * sizeof(float);
        file.seekg(data_start + static_cast<std::streamoff>(begin));
        file.read(reinterpret_cast<char*>(&parameters[tensor.first]),
                  static_cast<std::streamsize>(tensor.element_count() * sizeof(float)));
        if (!file) damaged(path, tensor.name + ": cannot be read");
    }
    std::uint64_t covered = 0;
    for (const auto& [begin, end] : extents)
        if (begin == covered) covered = end;
    if (covered != data_bytes) damaged(path, "its tensors overlap");
    return parameters;
}

}  // namespace ako
