#include "models/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "ako/error.h"
#include "ako/plain_file.h"
#include "models/npy_header.h"
#include "models/npz.h"

namespace ako {

namespace {

static_assert(std::endian::native == std::endian::little, "float32 is read as it lies");

/// Elements that are converted at once.
constexpr std::size_t piece_elements = std::size_t{1} << 16;
/// Whole numbers of float32 are exact up to here.
constexpr double exact_max = 1 << 24;

class FileSource final : public ByteSource {
  public:
    explicit FileSource(const std::string& path) : path_(path) {
        refuse_what_is_no_file(path);
        std::error_code error;
        size_ = std::filesystem::file_size(path, error);
        file_.open(path, std::ios::binary);
        if (error || !file_)
            refuse_array(path,
                         "cannot be opened: " +
                             (error ? error.message() : std::generic_category().message(errno)),
                         "data.format: npy reads train_images.npy, train_labels.npy, "
                         "test_images.npy and test_labels.npy, or train.npz and test.npz, in the "
                         "folder data.path");
    }
    std::uint64_t size() const override { return size_; }
    std::size_t read(void* to, std::size_t bytes) override {
        file_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
        return static_cast<std::size_t>(file_.gcount());
    }

  private:
    const std::string path_;
    std::uint64_t size_ = 0;
    std::ifstream file_;
};

std::unique_ptr<ByteSource> open_source(const ArrayPlace& place) {
    if (place.member.empty()) return std::make_unique<FileSource>(place.path);
    for (const NpzMember& member : read_npz_directory(place.path))
        if (member.name == place.member) return open_npz_member(place.path, member);
    refuse_array(place.path, "it has no array " + place.member, "write it again with numpy.savez");
}

/// An array whose header has been read and whose size fits it; the elements come next.
struct Npy {
    explicit Npy(const ArrayPlace& place)
        : name(place.text()), source(open_source(place)), header(read_npy_header(*source, name)) {}

    [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const {
        refuse_array(name, what, remedy);
    }
    void read(void* to, std::size_t bytes) {
        if (source->read(to, bytes) != bytes) refuse("cannot be read", "check the disk");
    }

    const std::string name;
    const std::unique_ptr<ByteSource> source;
    const NpyHeader header;
};

/// Where the elements of an array belong in rows, one after another as they come: in Fortran order
/// the first index runs fastest.
class Places {
  public:
    explicit Places(const NpyHeader& header)
        : shape_(header.fortran ? header.shape : std::vector<std::size_t>{}),
          index_(shape_.size()),
          stride_(shape_.size(), 1) {
        for (std::size_t d = shape_.size(); d-- > 1;) stride_[d - 1] = stride_[d] * shape_[d];
    }

    std::size_t next() {
        const std::size_t here = place_;
        if (shape_.empty()) return place_++;
        for (std::size_t d = 0; d < shape_.size(); ++d) {
            place_ += stride_[d];
            if (++index_[d] < shape_[d]) break;
            place_ -= stride_[d] * shape_[d];
            index_[d] = 0;
        }
        return here;
    }

  private:
    std::vector<std::size_t> shape_, index_, stride_;
    std::size_t place_ = 0;
};

/// IEEE 754's binary16, which C++20 has no type for.
float half_value(std::uint16_t bits) {
    const int exponent = bits >> 10 & 0x1f;
    const auto fraction = static_cast<float>(bits & 0x3ff);
    float size = 0;
    if (exponent == 0)
        size = std::ldexp(fraction, -24);
    else if (exponent == 0x1f)
        size = fraction == 0 ? std::numeric_limits<float>::infinity()
                             : std::numeric_limits<float>::quiet_NaN();
    else
        size = std::ldexp(fraction + 1024.0F, exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

/// What stands for float16 and bool in the table of types.
struct Half {
    std::uint16_t bits;
};
struct Truth {
    std::uint8_t byte;
};

template <class Element>
auto value_of(Element element) {
    if constexpr (std::is_same_v<Element, Half>)
        return half_value(element.bits);
    else if constexpr (std::is_same_v<Element, Truth>)
        return static_cast<std::uint8_t>(element.byte != 0 ? 1 : 0);
    else
        return element;
}

template <class Element, class Take>
void each_of(Npy& npy, const Take& take) {
    Places places(npy.header);
    std::vector<std::array<std::uint8_t, sizeof(Element)>> piece(
        std::min<std::uint64_t>(piece_elements, npy.header.element_count));
    for (std::uint64_t left = npy.header.element_count; left > 0;) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), left));
        npy.read(piece.data(), count * sizeof(Element));
        for (std::size_t k = 0; k < count; ++k) {
            if (npy.header.big_endian) std::reverse(piece[k].begin(), piece[k].end());
            take(places.next(), value_of(std::bit_cast<Element>(piece[k])));
        }
        left -= count;
    }
}

/// Calls take(place, value) for every element. False, and nothing is called, for a type that is not
/// known.
template <class Take>
bool each_element(Npy& npy, const Take& take) {
    const auto is = [&npy](char kind, std::size_t bytes) {
        return npy.header.kind == kind && npy.header.element_bytes == bytes;
    };
    if (is('b', 1)) return each_of<Truth>(npy, take), true;
    if (is('u', 1)) return each_of<std::uint8_t>(npy, take), true;
    if (is('u', 2)) return each_of<std::uint16_t>(npy, take), true;
    if (is('u', 4)) return each_of<std::uint32_t>(npy, take), true;
    if (is('u', 8)) return each_of<std::uint64_t>(npy, take), true;
    if (is('i', 1)) return each_of<std::int8_t>(npy, take), true;
    if (is('i', 2)) return each_of<std::int16_t>(npy, take), true;
    if (is('i', 4)) return each_of<std::int32_t>(npy, take), true;
    if (is('i', 8)) return each_of<std::int64_t>(npy, take), true;
    if (is('f', 2)) return each_of<Half>(npy, take), true;
    if (is('f', 4)) return each_of<float>(npy, take), true;
    if (is('f', 8)) return each_of<double>(npy, take), true;
    return false;
}

/// "big-endian float64 in Fortran order".
std::string as_saved(const NpyHeader& header) {
    return (header.big_endian ? "big-endian " : "") + header.type_name() +
           (header.fortran ? " in Fortran order" : "");
}

/// Is it held as bytes?
bool is_bytes(const NpyHeader& header) {
    return header.element_bytes == 1 && (header.kind == 'u' || header.kind == 'b');
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
    if (shape.size() == 2 && shape[0] > 1)
        return "if these are one-hot, save labels.argmax(axis=1): one class number per image";
    if (shape.size() == 2) return "save labels.reshape(-1), one class number per image";
    return "save an array of one class number per image";
}

/// Takes the values of images into float32, and keeps what is said of them.
class Pixels {
  public:
    Pixels(const Npy& npy, Images& images)
        : npy_(npy), numbers_(images.numbers), image_elements_(images.shape.element_count()) {}

    template <class Value>
    void take(std::size_t place, Value value) {
        const auto number = static_cast<double>(value);
        if constexpr (std::is_floating_point_v<Value>) {
            if (!std::isfinite(value))
                refuse(place, "is not finite",
                       "clean the data first, for example with numpy.nan_to_num");
            if (std::abs(number) > std::numeric_limits<float>::max())
                refuse(place, "is " + std::to_string(number) + ", beyond what float32 holds",
                       "scale the data first, such as images / images.max()");
        } else if (std::abs(number) > exact_max) {
            refuse(place, "is " + std::to_string(value) + ", which float32 does not hold exactly",
                   "scale the data first: (images / images.max()).astype(numpy.float32)");
        } else {
            low_ = std::min(low_, number);
            high_ = std::max(high_, number);
        }
        numbers_[place] = static_cast<float>(value);
    }

    /// "0 to 65535".
    std::string range() const {
        const auto text = [](double number) {
            return std::to_string(static_cast<std::int64_t>(number));
        };
        return text(low_) + " to " + text(high_);
    }

  private:
    [[noreturn]] void refuse(std::size_t place, const std::string& what,
                             const std::string& remedy) const {
        npy_.refuse("a pixel of image " + std::to_string(place / image_elements_) + " " + what,
                    remedy);
    }

    const Npy& npy_;
    std::vector<float>& numbers_;
    const std::size_t image_elements_;
    double low_ = std::numeric_limits<double>::max();
    double high_ = std::numeric_limits<double>::lowest();
};

/// Bytes: of uint8 as they are, of bool so that they become 0 and 1 when divided by 255.
void read_bytes(Npy& npy, NotedImages& read) {
    std::vector<std::uint8_t>& bytes = read.images.bytes;
    bytes.resize(npy.header.element_count);
    const bool truth = npy.header.kind == 'b';
    if (!truth && !npy.header.fortran) return npy.read(bytes.data(), bytes.size());
    each_element(npy, [&](std::size_t place, auto value) {
        const auto byte = static_cast<std::uint8_t>(value);
        bytes[place] = truth && byte != 0 ? 255 : byte;
    });
    if (truth)
        read.note = as_saved(npy.header) + " is read as 0 and 1";
    else
        read.note = as_saved(npy.header) + " is read into rows";
}

void read_numbers(Npy& npy, NotedImages& read) {
    Pixels pixels(npy, read.images);
    const NpyHeader& header = npy.header;
    std::vector<float>& numbers = read.images.numbers;
    numbers.resize(header.element_count);
    const bool as_it_lies = header.type == "<f4" && !header.fortran;
    if (as_it_lies) {
        npy.read(numbers.data(), header.data_bytes);
        for (std::size_t k = 0; k < numbers.size(); ++k) pixels.take(k, numbers[k]);
        return;
    }
    if (!each_element(npy, [&](std::size_t place, auto value) { pixels.take(place, value); }))
        npy.refuse(
            "expected images of uint8 ('|u1') or float32 ('<f4'), found '" + header.type + "'",
            "save array.astype(numpy.float32), or numpy.uint8 for pixels of 0 to 255");
    read.note = as_saved(header) + " is read as float32";
    if (header.kind == 'f' && header.element_bytes == sizeof(double)) read.note += " and rounded";
    if (header.kind != 'f' && header.element_count > 0)
        read.note += " as it is (" + pixels.range() + "): only uint8 is divided by 255";
}

}  // namespace

std::size_t npy_image_bytes(const ArrayPlace& place) {
    const NpyHeader header = Npy(place).header;
    return header.element_count * (is_bytes(header) ? 1 : sizeof(float));
}

std::size_t npy_label_bytes(const ArrayPlace& place) {
    const NpyHeader header = Npy(place).header;
    return header.shape.empty() ? 0 : header.shape[0];  // whatever its type, a byte each in memory
}

NotedImages read_npy_images(const ArrayPlace& place) {
    Npy npy(place);
    const std::vector<std::size_t>& shape = npy.header.shape;
    if (shape.size() != 3 && shape.size() != 4)
        npy.refuse(
            "expected [count, height, width] or [count, height, width, channels], found " +
                npy.header.shape_text(),
            shape.size() == 2 ? unflattened(shape[1]) : "reshape the array; channels come last");
    NotedImages read;
    read.images.count = shape[0];
    read.images.shape = {shape[1], shape[2], shape.size() == 4 ? shape[3] : 1};
    if (read.images.shape.element_count() == 0)
        npy.refuse("images without pixels: " + npy.header.shape_text(),
                   "save images that have some");
    if (is_bytes(npy.header))
        read_bytes(npy, read);
    else
        read_numbers(npy, read);
    return read;
}

NotedLabels read_npy_labels(const ArrayPlace& place, std::size_t class_count) {
    Npy npy(place);
    const NpyHeader& header = npy.header;
    const bool column = header.shape.size() == 2 && header.shape[1] == 1;
    if (header.shape.size() != 1 && !column)
        npy.refuse("expected labels of one dimension, found " + header.shape_text(),
                   one_dimension(header.shape));
    NotedLabels read;
    read.labels.resize(header.element_count);
    const bool known = each_element(npy, [&](std::size_t item, auto value) {
        using Value = decltype(value);
        constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
        std::int64_t label = 0;
        if constexpr (std::is_floating_point_v<Value>) {
            // NaN among them.
            if (!(std::abs(value) < 1e9F) || value != std::trunc(value))
                npy.refuse("label " + std::to_string(value) + " of item " + std::to_string(item) +
                               ": expected a whole number",
                           "numpy.unique(labels, return_inverse=True)[1] has class numbers from 0");
            label = static_cast<std::int64_t>(value);
        } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
            label = static_cast<std::int64_t>(std::min<Value>(value, largest));
        } else {
            label = value;  // NOLINT(bugprone-signed-char-misuse): a number with its sign
        }
        check_label(npy.name, item, label, class_count);
        read.labels[item] = static_cast<std::uint8_t>(label);
    });
    if (!known)
        npy.refuse("expected labels of whole numbers, found numbers of " +
                       std::to_string(header.element_bytes) + " bytes ('" + header.type + "')",
                   "save labels.astype(numpy.uint8)");
    if (column || header.kind == 'f' || header.kind == 'b' || header.big_endian)
        read.note = header.shape_text() + " of " + as_saved(header) + " is read as class numbers";
    return read;
}

}  // namespace ako
