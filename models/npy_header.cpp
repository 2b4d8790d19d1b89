#include "models/npy_header.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "ako/error.h"

namespace ako {

namespace {

/// What peers with tens of GB of memory can hold; memory_mb_max is the user's own limit.
constexpr std::uint64_t npy_bytes_max = std::uint64_t{64} << 30;
/// NumPy's headers have 128 bytes; a structured type may take some thousands.
constexpr std::size_t header_bytes_max = std::size_t{1} << 16;

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void not_npy(const std::string& name, const std::string& what) {
    if (name.find(".npz: ") != std::string::npos)
        refuse_array(name, what, "write the archive again with numpy.savez");
    refuse_array(name, what,
                 "write the array again with numpy.save(\"" +
                     std::filesystem::path(name).filename().string() + "\", array)");
}

/// What follows `'key':` in the header, from its first character on.
std::string_view value_of(std::string_view header, const std::string& key,
                          const std::string& name) {
    const std::string quoted = "'" + key + "':";
    const std::size_t at = header.find(quoted);
    if (at == std::string_view::npos) not_npy(name, "its header has no " + key);
    header.remove_prefix(at + quoted.size());
    header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
    return header;
}

std::string read_type(std::string_view header, const std::string& name) {
    const std::string_view value = value_of(header, "descr", name);
    const std::size_t end = value.find('\'', 1);
    if (value.empty() || value.front() != '\'' || end == std::string_view::npos)
        refuse_array(name, "an array of structures", "save a plain array of numbers");
    return std::string(value.substr(1, end - 1));
}

/// "(3, 4)", "(3,)".
std::vector<std::size_t> read_shape(std::string_view header, const std::string& name) {
    std::string_view value = value_of(header, "shape", name);
    const std::size_t end = value.find(')');
    if (value.empty() || value.front() != '(' || end == std::string_view::npos)
        not_npy(name, "its header has a shape that cannot be read");
    value = value.substr(1, end - 1);
    std::vector<std::size_t> shape;
    while (!value.empty()) {
        std::size_t extent = 0;
        const auto [stopped, error] =
            std::from_chars(value.data(), value.data() + value.size(), extent);
        if (error != std::errc()) not_npy(name, "its header has a shape that cannot be read");
        shape.push_back(extent);
        value.remove_prefix(static_cast<std::size_t>(stopped - value.data()));
        value.remove_prefix(std::min(value.find_first_not_of(", "), value.size()));
    }
    return shape;
}

/// The header's text; leaves the source at the elements. `taken`: the bytes up to there.
std::string read_text(ByteSource& source, const std::string& name, std::uint64_t& taken) {
    char start[8] = {};
    const bool whole = source.read(start, sizeof start) == sizeof start;
    if (std::string_view(start, 4) == std::string_view("PK\x03\x04", 4))
        refuse_array(name, "an .npz archive",
                     "call it train.npz or test.npz, or save each array by itself with numpy.save");
    if (!whole || std::string_view(start, magic.size()) != magic)
        not_npy(name, "not an .npy file: it does not begin with \\x93NUMPY");
    const int version = static_cast<unsigned char>(start[6]);
    if (version < 1 || version > 3)
        not_npy(name, "of format version " + std::to_string(version) + ", known are 1 to 3");
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    unsigned char length[4] = {};
    const bool has_length = source.read(length, length_bytes) == length_bytes;
    const std::size_t header_bytes = std::size_t{length[0]} | std::size_t{length[1]} << 8 |
                                     std::size_t{length[2]} << 16 | std::size_t{length[3]} << 24;
    if (!has_length || header_bytes > header_bytes_max)
        not_npy(name, "announces a header of " + std::to_string(header_bytes) + " bytes");
    std::string header(header_bytes, '\0');
    if (source.read(header.data(), header_bytes) != header_bytes)
        not_npy(name, "ends within its header");
    taken = sizeof start + length_bytes + header_bytes;
    return header;
}

/// "<f4": the order of the bytes, the kind of number, its bytes.
void read_kind(NpyHeader& header, const std::string& name) {
    const std::string& type = header.type;
    const char* const end = type.data() + type.size();
    const bool numbered = type.size() >= 3 &&
                          std::from_chars(type.data() + 2, end, header.element_bytes).ptr == end &&
                          header.element_bytes > 0 && header.element_bytes <= 16;
    header.kind = type.size() >= 2 ? type[1] : '\0';
    header.big_endian = type.starts_with('>') && header.element_bytes > 1;
    if (numbered && std::string_view("biuf").find(header.kind) != std::string_view::npos) return;
    const bool text = header.kind == 'U' || header.kind == 'S';
    refuse_array(name, "an array of type '" + type + "'",
                 text ? "save numbers: numpy.unique(labels, return_inverse=True)[1] has the class "
                        "number of each text"
                      : "save an array of numbers");
}

}  // namespace

std::string NpyHeader::shape_text() const {
    std::string text;
    for (const std::size_t extent : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(extent);
    return "[" + text + "]";
}

std::string NpyHeader::type_name() const {
    if (kind == 'b') return "bool";
    const std::string name = kind == 'f' ? "float" : kind == 'i' ? "int" : "uint";
    return name + std::to_string(8 * element_bytes);
}

NpyHeader read_npy_header(ByteSource& source, const std::string& name) {
    std::uint64_t taken = 0;
    const std::string text = read_text(source, name, taken);
    NpyHeader header;
    header.type = read_type(text, name);
    read_kind(header, name);
    header.shape = read_shape(text, name);
    const std::string_view order = value_of(text, "fortran_order", name);
    if (!order.starts_with("False") && !order.starts_with("True"))
        not_npy(name, "its header has a fortran_order that cannot be read");
    header.fortran = order.starts_with("True");
    header.element_count = 1;
    for (const std::size_t extent : header.shape) {
        if (header.element_count > 0 &&
            extent > npy_bytes_max / header.element_bytes / header.element_count)
            refuse_array(name,
                         header.shape_text() + " of '" + header.type + "' is more than " +
                             std::to_string(npy_bytes_max) + " bytes, the most allowed",
                         "split the data set");
        header.element_count *= extent;
    }
    header.data_bytes = header.element_count * header.element_bytes;
    const std::uint64_t found = source.size() - taken;
    if (found != header.data_bytes)
        not_npy(name, "wrong size: " + header.shape_text() + " of '" + header.type + "' are " +
                          std::to_string(header.data_bytes) + " bytes, found " +
                          std::to_string(found));
    return header;
}

void refuse_array(const std::string& name, const std::string& what, const std::string& remedy) {
    throw StartupError(name + ": " + what, remedy);
}

}  // namespace ako
