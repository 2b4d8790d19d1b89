#include "models/npy.h"

#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "ako/error.h"

namespace ako {

namespace {

static_assert(std::endian::native == std::endian::little, "elements are read as they lie");

/// What peers with tens of GB of memory can hold; memory_mb_max is the user's own limit.
constexpr std::uint64_t npy_bytes_max = std::uint64_t{64} << 30;
/// NumPy's headers have 128 bytes; a structured type may take some thousands.
constexpr std::size_t header_bytes_max = std::size_t{1} << 16;

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void refuse(const std::string& path, const std::string& what,
                         const std::string& remedy) {
    throw StartupError(path + ": " + what, remedy);
}

[[noreturn]] void not_npy(const std::string& path, const std::string& what) {
    refuse(path, what,
           "write the array again with numpy.save(\"" +
               std::filesystem::path(path).filename().string() + "\", array)");
}

/// A file whose header has been read and whose size fits it; the elements come next.
struct Npy {
    std::ifstream file;
    std::string type;  ///< "|u1"
    std::vector<std::size_t> shape;
    std::uint64_t data_bytes = 0;

    std::string shape_text() const {
        std::string text;
        for (const std::size_t extent : shape)
            text += (text.empty() ? "" : ", ") + std::to_string(extent);
        return "[" + text + "]";
    }
};

/// What follows `'key':` in the header, from its first character on.
std::string_view value_of(std::string_view header, const std::string& key,
                          const std::string& path) {
    const std::string quoted = "'" + key + "':";
    const std::size_t at = header.find(quoted);
    if (at == std::string_view::npos) not_npy(path, "its header has no " + key);
    header.remove_prefix(at + quoted.size());
    header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
    return header;
}

std::string read_type(std::string_view header, const std::string& path) {
    const std::string_view value = value_of(header, "descr", path);
    const std::size_t end = value.find('\'', 1);
    if (value.empty() || value.front() != '\'' || end == std::string_view::npos)
        refuse(path, "an array of structures", "save a plain array of numbers");
    return std::string(value.substr(1, end - 1));
}

/// "(3, 4)", "(3,)".
std::vector<std::size_t> read_shape(std::string_view header, const std::string& path) {
    std::string_view value = value_of(header, "shape", path);
    const std::size_t end = value.find(')');
    if (value.empty() || value.front() != '(' || end == std::string_view::npos)
        not_npy(path, "its header has a shape that cannot be read");
    value = value.substr(1, end - 1);
    std::vector<std::size_t> shape;
    while (!value.empty()) {
        std::size_t extent = 0;
        const auto [stopped, error] =
            std::from_chars(value.data(), value.data() + value.size(), extent);
        if (error != std::errc()) not_npy(path, "its header has a shape that cannot be read");
        shape.push_back(extent);
        value.remove_prefix(static_cast<std::size_t>(stopped - value.data()));
        value.remove_prefix(std::min(value.find_first_not_of(", "), value.size()));
    }
    return shape;
}

/// The header's text; leaves the file at the elements.
std::string read_header(std::ifstream& file, const std::string& path) {
    char start[8] = {};
    file.read(start, sizeof start);
    if (std::string_view(start, 4) == std::string_view("PK\x03\x04", 4))
        refuse(path, "an .npz archive", "save each array by itself with numpy.save");
    if (!file || std::string_view(start, magic.size()) != magic)
        not_npy(path, "not an .npy file: it does not begin with \\x93NUMPY");
    const int version = static_cast<unsigned char>(start[6]);
    if (version < 1 || version > 3)
        not_npy(path, "of format version " + std::to_string(version) + ", known are 1 to 3");
    std::uint32_t header_bytes = 0;
    file.read(reinterpret_cast<char*>(&header_bytes), version == 1 ? 2 : 4);
    if (!file || header_bytes > header_bytes_max)
        not_npy(path, "announces a header of " + std::to_string(header_bytes) + " bytes");
    std::string header(header_bytes, '\0');
    file.read(header.data(), static_cast<std::streamsize>(header.size()));
    if (!file) not_npy(path, "ends within its header");
    return header;
}

/// The bytes of one element: the digits of "<f4".
std::size_t element_bytes(const std::string& type, const std::string& path) {
    std::size_t bytes = 0;
    const char* end = type.data() + type.size();
    if (type.size() < 3 || std::from_chars(type.data() + 2, end, bytes).ptr != end || bytes == 0 ||
        bytes > 16)
        refuse(path, "an array of type '" + type + "'", "save an array of numbers");
    if (type.front() == '>')
        refuse(path, "big-endian numbers ('" + type + "')",
               "save array.astype(array.dtype.newbyteorder('<'))");
    return bytes;
}

Npy open_npy(const std::string& path) {
    std::error_code error;
    const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
    Npy npy;
    npy.file.open(path, std::ios::binary);
    if (error || !npy.file)
        refuse(path,
               "cannot be opened: " +
                   (error ? error.message() : std::generic_category().message(errno)),
               "data.format: npy reads train_images.npy, train_labels.npy, test_images.npy and "
               "test_labels.npy in the folder data.path");
    const std::string header = read_header(npy.file, path);
    npy.type = read_type(header, path);
    npy.shape = read_shape(header, path);
    if (!value_of(header, "fortran_order", path).starts_with("False"))
        refuse(path, "an array in Fortran order", "save numpy.ascontiguousarray(array)");
    npy.data_bytes = element_bytes(npy.type, path);
    for (const std::size_t extent : npy.shape) {
        if (npy.data_bytes > 0 && extent > npy_bytes_max / npy.data_bytes)
            refuse(path,
                   npy.shape_text() + " of '" + npy.type + "' is more than " +
                       std::to_string(npy_bytes_max) + " bytes, the most allowed",
                   "split the data set");
        npy.data_bytes *= extent;
    }
    const auto found = file_bytes - static_cast<std::uint64_t>(npy.file.tellg());
    if (found != npy.data_bytes)
        not_npy(path, "wrong size: " + npy.shape_text() + " of '" + npy.type + "' are " +
                          std::to_string(npy.data_bytes) + " bytes, found " +
                          std::to_string(found));
    return npy;
}

void read_elements(Npy& npy, void* to, const std::string& path) {
    npy.file.read(static_cast<char*>(to), static_cast<std::streamsize>(npy.data_bytes));
    if (!npy.file) refuse(path, "cannot be read", "check the disk");
}

/// The integer of `bytes`, 1, 2, 4 or 8, at `from`, whatever its sign. What is beyond int64_t is
/// taken for its largest number: no label is so large.
std::int64_t integer_at(const std::uint8_t* from, std::size_t bytes, bool has_sign) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, bytes);
    constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
    if (!has_sign) return static_cast<std::int64_t>(std::min(bits, largest));
    if (bytes == sizeof bits) return static_cast<std::int64_t>(bits);
    const std::uint64_t top = std::uint64_t{1} << (8 * bytes - 1);
    if ((bits & top) != 0) bits -= 2 * top;
    return static_cast<std::int64_t>(bits);
}

/// Images that were made flat: how they become square ones again, where they may be.
std::string unflattened(std::size_t pixels) {
    const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(pixels))));
    const std::string sides = std::to_string(side) + ", " + std::to_string(side);
    return "reshape the array; channels come last" +
           (side > 1 && side * side == pixels ? ", such as images.reshape(-1, " + sides + ")" : "");
}

/// How labels of several dimensions become class numbers.
std::string one_dimension(const std::vector<std::size_t>& shape) {
    if (shape.size() == 2 && shape[1] > 1)
        return "if these are one-hot, save labels.argmax(axis=1): one class number per image";
    if (shape.size() == 2) return "save labels.reshape(-1), one class number per image";
    return "save an array of one class number per image";
}

}  // namespace

std::size_t npy_image_bytes(const std::string& path) { return open_npy(path).data_bytes; }

std::size_t npy_label_bytes(const std::string& path) {
    const Npy npy = open_npy(path);
    return npy.shape.empty() ? 0 : npy.shape[0];  // whatever its type, a byte each in memory
}

Images read_npy_images(const std::string& path) {
    Npy npy = open_npy(path);
    if (npy.shape.size() != 3 && npy.shape.size() != 4)
        refuse(path,
               "expected [count, height, width] or [count, height, width, channels], found " +
                   npy.shape_text(),
               npy.shape.size() == 2 ? unflattened(npy.shape[1])
                                     : "reshape the array; channels come last");
    Images images;
    images.count = npy.shape[0];
    images.shape = {npy.shape[1], npy.shape[2], npy.shape.size() == 4 ? npy.shape[3] : 1};
    if (images.shape.element_count() == 0)
        refuse(path, "images without pixels: " + npy.shape_text(), "save images that have some");
    if (npy.type == "|u1") {
        images.bytes.resize(npy.data_bytes);
        read_elements(npy, images.bytes.data(), path);
    } else if (npy.type == "<f4") {
        images.numbers.resize(npy.data_bytes / sizeof(float));
        read_elements(npy, images.numbers.data(), path);
        for (std::size_t k = 0; k < images.numbers.size(); ++k)
            if (!std::isfinite(images.numbers[k]))
                refuse(path,
                       "a pixel of image " + std::to_string(k / images.shape.element_count()) +
                           " is not finite",
                       "clean the data first, for example with numpy.nan_to_num");
    } else {
        refuse(path,
               "expected images of uint8 ('|u1') or float32 ('<f4'), found '" + npy.type + "'",
               "save array.astype(numpy.float32), or numpy.uint8 for pixels of 0 to 255");
    }
    return images;
}

Labels read_npy_labels(const std::string& path, std::size_t class_count) {
    Npy npy = open_npy(path);
    if (npy.shape.size() != 1)
        refuse(path, "expected labels of one dimension, found " + npy.shape_text(),
               one_dimension(npy.shape));
    const char sign = npy.type[1];
    if (sign != 'i' && sign != 'u')
        refuse(path, "expected labels of integers, found '" + npy.type + "'",
               "save labels.astype(numpy.uint8)");
    const std::size_t width = element_bytes(npy.type, path);
    if (width != 1 && width != 2 && width != 4 && width != 8)
        refuse(path, "integers of " + std::to_string(width) + " bytes ('" + npy.type + "')",
               "save labels.astype(numpy.uint8)");
    std::vector<std::uint8_t> bytes(npy.data_bytes);
    read_elements(npy, bytes.data(), path);
    Labels labels(npy.shape[0]);
    for (std::size_t item = 0; item < labels.size(); ++item) {
        const std::int64_t label = integer_at(&bytes[item * width], width, sign == 'i');
        check_label(path, item, label, class_count);
        labels[item] = static_cast<std::uint8_t>(label);
    }
    return labels;
}

}  // namespace ako
