#include "models/safetensors.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "ako/assert.h"
#include "ako/error.h"
#include "ako/plain_file.h"

namespace ako {

namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored as they lie");

using Json = nlohmann::json;

/// An entry takes about 100 bytes, so this is room for 40,000 tensors; as JSON in memory it comes
/// to at most 14 times as much.
constexpr std::uint64_t header_bytes_max = std::uint64_t{4} << 20;
/// Lists and objects stand no deeper within each other: header, tensor, shape.
constexpr int header_depth_max = 3;
/// A message shows so much of what a header says.
constexpr std::size_t shown_bytes_max = 80;
/// A file of another network altogether says so in its first lines.
constexpr std::size_t mismatches_listed_max = 12;
constexpr const char* metadata_key = "__metadata__";
constexpr const char* checksum_key = "crc32";

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
    throw StartupError(path + ": " + what, "the file is damaged or of another network");
}

[[noreturn]] void cannot_write(const std::string& path) {
    throw StartupError(path + ": cannot be written: " + std::generic_category().message(errno),
                       "check the folder, its permissions and the space on the disk");
}

std::uint32_t add_checksum(std::uint32_t checksum, std::span<const float> values) {
    return static_cast<std::uint32_t>(
        crc32_z(checksum, reinterpret_cast<const Bytef*>(values.data()), values.size_bytes()));
}

std::string hexadecimal(std::uint32_t checksum) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", checksum);
    return digits.data();
}

std::string make_header(const std::vector<Tensor>& tensors,
                        const std::map<std::string, std::string>& metadata) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    header[metadata_key] = metadata;
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
          descriptor_(
              ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644)) {
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

    void finish(const std::string& kept) {
        if (::fsync(descriptor_) != 0) cannot_write(path_);
        const int closed = ::close(std::exchange(descriptor_, -1));
        if (closed != 0) cannot_write(path_);
        if (!kept.empty()) keep_old(kept);
        if (::rename(path_.c_str(), final_path_.c_str()) != 0) cannot_write(final_path_);
        renamed_ = true;
        sync_folder();
    }

  private:
    /// By a second name, so that at no moment there is no file of the final name.
    void keep_old(const std::string& kept) const {
        if (::access(final_path_.c_str(), F_OK) != 0) return;
        ::unlink(kept.c_str());
        if (::link(final_path_.c_str(), kept.c_str()) == 0) return;
        // Some file systems have one name per file.
        if (::rename(final_path_.c_str(), kept.c_str()) != 0) cannot_write(kept);
    }
    /// So that the new name, too, outlives a loss of power. Not every file system can.
    void sync_folder() const {
        const std::string folder = std::filesystem::path(final_path_).parent_path().string();
        const int descriptor =
            ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (descriptor < 0) return;
        ::fsync(descriptor);
        ::close(descriptor);
    }

    const std::string final_path_;
    const std::string path_;
    int descriptor_;
    bool renamed_ = false;
};

/// What a header says, in a message: a long text is cut off.
std::string shown(const std::string& text) {
    return text.size() <= shown_bytes_max ? text : text.substr(0, shown_bytes_max) + "..";
}
std::string shown(const Json& value) { return shown(value.dump()); }

/// Null unless it is an object whose lists and objects are no deeper than a header's: what walks
/// through JSON calls itself for each level, and a file must not decide how often.
Json parse_header(const std::string& text) {
    int deepest = 0;
    const auto watch = [&deepest](int depth, Json::parse_event_t event, Json&) {
        const bool begins =
            event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
        if (begins) deepest = std::max(deepest, depth + 1);
        return !begins || depth < header_depth_max;  // what is deeper is not kept
    };
    Json header = Json::parse(text, watch, false);
    return header.is_object() && deepest <= header_depth_max ? header : Json();
}

/// The header's entry of this name; null if there is none.
Json entry_of(const Json& header, const std::string& name) {
    const auto entry = header.find(name);
    return entry == header.end() || !entry->is_object() ? Json() : *entry;
}

/// Every tensor of the file whose name, type or shape is not the network's, and the other way
/// round.
std::vector<std::string> mismatches(const Json& header, const std::vector<Tensor>& tensors) {
    std::vector<std::string> found;
    std::set<std::string> known = {metadata_key};
    for (const Tensor& tensor : tensors) {
        known.insert(tensor.name);
        const Json expected(tensor.shape);
        const Json entry = entry_of(header, tensor.name);
        if (entry.is_null()) {
            found.push_back(tensor.name + ": expected shape " + expected.dump() +
                            ", there is no such tensor");
            continue;
        }
        const Json dtype = entry.value("dtype", Json());
        if (dtype != "F32")
            found.push_back(tensor.name + ": expected dtype \"F32\", found " + shown(dtype));
        const Json shape = entry.value("shape", Json());
        if (shape != expected)
            found.push_back(tensor.name + ": expected shape " + expected.dump() + ", found " +
                            shown(shape));
    }
    for (const auto& [name, entry] : header.items()) {
        if (known.contains(name)) continue;
        const Json shape = entry.is_object() ? entry.value("shape", Json()) : Json();
        found.push_back(shown(name) + ": found with shape " + shown(shape) +
                        ", the network has no such tensor");
    }
    return found;
}

void require_fit(const std::string& path, const Json& header, const std::vector<Tensor>& tensors) {
    const std::vector<std::string> found = mismatches(header, tensors);
    if (found.empty()) return;
    std::string text = path + ": does not fit the network:";
    for (std::size_t k = 0; k < std::min(found.size(), mismatches_listed_max); ++k)
        text += "\n       " + found[k];
    if (found.size() > mismatches_listed_max)
        text += "\n       and " + std::to_string(found.size() - mismatches_listed_max) + " more";
    throw StartupError(text, "the file is of another network: `ako check` shows this one's");
}

/// Where in the data the tensor begins.
std::uint64_t place_of(const std::string& path, const Json& header, const Tensor& tensor,
                       std::uint64_t data_bytes) {
    const Json offsets = entry_of(header, tensor.name).value("data_offsets", Json());
    const bool numbers = offsets.is_array() && offsets.size() == 2 &&
                         offsets[0].is_number_unsigned() && offsets[1].is_number_unsigned();
    const std::uint64_t begin = numbers ? offsets[0].get<std::uint64_t>() : 1;
    const std::uint64_t end = numbers ? offsets[1].get<std::uint64_t>() : 0;
    const std::uint64_t bytes = tensor.element_count() * sizeof(float);
    if (begin > end || end - begin != bytes || end > data_bytes)
        damaged(path, tensor.name + ": expected " + std::to_string(bytes) + " of the " +
                          std::to_string(data_bytes) + " bytes of data, found data_offsets " +
                          shown(offsets));
    return begin;
}

/// The tensors by where they lie in the data: all of it, each byte once.
std::map<std::uint64_t, const Tensor*> places_of(const std::string& path, const Json& header,
                                                 const std::vector<Tensor>& tensors,
                                                 std::uint64_t data_bytes) {
    std::map<std::uint64_t, const Tensor*> places;
    for (const Tensor& tensor : tensors)
        places[place_of(path, header, tensor, data_bytes)] = &tensor;
    std::uint64_t covered = 0;
    for (const auto& [begin, tensor] : places)
        if (begin == covered) covered += tensor->element_count() * sizeof(float);
    if (covered != data_bytes) damaged(path, "its tensors overlap");
    return places;
}

void require_checksum(const std::string& path, const Json& header, std::uint32_t checksum) {
    const Json metadata = entry_of(header, metadata_key);
    if (!metadata.contains(checksum_key)) return;
    const Json& stated = metadata[checksum_key];
    if (stated == hexadecimal(checksum)) return;
    damaged(path, "its data have the checksum \"" + hexadecimal(checksum) + "\", it states " +
                      shown(stated));
}

[[noreturn]] void cannot_open(const std::string& path, const std::string& why) {
    namespace fs = std::filesystem;
    const fs::path inside = fs::path(path) / "model.safetensors";
    std::error_code error;
    if (fs::is_directory(path, error))
        throw StartupError(path + ": expected a saved model (.safetensors), found a folder",
                           fs::exists(inside, error) ? "did you mean " + inside.string() + "?"
                                                     : "give the path of the file in it");
    throw StartupError(path + ": cannot be opened: " + why,
                       "check that the file exists and may be read");
}

/// Reads and checks the header; leaves `file` at the data, of which `data_bytes` follow.
Json read_header(const std::string& path, std::ifstream& file, std::uint64_t& data_bytes) {
    std::error_code error;
    const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
    if (error || !file)
        cannot_open(path, error ? error.message() : std::generic_category().message(errno));
    std::uint64_t header_bytes = 0;
    if (file_bytes < sizeof(header_bytes)) damaged(path, "ends within the first 8 bytes");
    file.read(reinterpret_cast<char*>(&header_bytes), sizeof(header_bytes));
    if (header_bytes > header_bytes_max || header_bytes > file_bytes - sizeof(header_bytes))
        damaged(path, "announces a header of " + std::to_string(header_bytes) +
                          " bytes in a file of " + std::to_string(file_bytes));
    std::string text(header_bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(header_bytes));
    data_bytes = file_bytes - sizeof(header_bytes) - header_bytes;
    Json header = parse_header(text);
    if (!file || !header.is_object()) damaged(path, "its header is not a JSON object of tensors");
    return header;
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<Tensor>& tensors,
                       std::span<const float> parameters,
                       const std::map<std::string, std::string>& metadata,
                       const std::string& kept) {
    std::size_t expected = 0;
    for (const Tensor& tensor : tensors) {
        AKO_ASSERT(tensor.first == expected, tensor.name + " does not follow the tensor before");
        expected += tensor.element_count();
    }
    AKO_ASSERT(parameters.size() == expected, std::to_string(parameters.size()) +
                                                  " parameters for tensors of " +
                                                  std::to_string(expected));
    std::map<std::string, std::string> stated = metadata;
    stated[checksum_key] = hexadecimal(add_checksum(0, parameters));
    const std::string header = make_header(tensors, stated);
    const std::uint64_t header_bytes = header.size();
    TemporaryFile file(path);
    file.write(&header_bytes, sizeof(header_bytes));
    file.write(header.data(), header.size());
    file.write(parameters.data(), parameters.size_bytes());
    file.finish(kept);
}

std::vector<float> read_safetensors(const std::string& path, const std::vector<Tensor>& tensors) {
    refuse_what_is_no_file(path);
    std::ifstream file(path, std::ios::binary);
    std::uint64_t data_bytes = 0;
    const Json header = read_header(path, file, data_bytes);
    require_fit(path, header, tensors);
    std::size_t element_count = 0;
    for (const Tensor& tensor : tensors) element_count += tensor.element_count();
    if (data_bytes != element_count * sizeof(float))
        damaged(path, "expected " + std::to_string(element_count * sizeof(float)) +
                          " bytes of data, found " + std::to_string(data_bytes));
    std::vector<float> parameters(element_count);
    std::uint32_t checksum = 0;
    // In the order of the data, so the file is read from its beginning to its end.
    for (const auto& [begin, tensor] : places_of(path, header, tensors, data_bytes)) {
        const auto values = std::span(parameters).subspan(tensor->first, tensor->element_count());
        file.read(reinterpret_cast<char*>(values.data()),
                  static_cast<std::streamsize>(values.size_bytes()));
        if (!file) damaged(path, tensor->name + ": cannot be read");
        checksum = add_checksum(checksum, values);
    }
    require_checksum(path, header, checksum);
    return parameters;
}

std::size_t safetensors_count(const std::string& path) {
    refuse_what_is_no_file(path);
    std::ifstream file(path, std::ios::binary);
    std::uint64_t data_bytes = 0;
    read_header(path, file, data_bytes);
    return data_bytes / sizeof(float);
}

}  // namespace ako
