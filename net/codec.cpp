#include "net/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>

#include "ako/assert.h"
#include "ako/has_fields.h"
#include "ako/payload.h"
#include "ako/printable.h"
#include "net/frame_prefix.h"
#include "src/numbers/checksum.h"

namespace ako {
namespace {

/// The first byte of a header that is no Hello: above what a Hello of any protocol begins with.
constexpr std::uint8_t first_kind = 64;

template <class Value>
concept Enum = std::is_enum_v<Value>;

/// The number with the bytes of a float.
template <class Float>
using BitsOf = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

// ---- values to bytes

class Writer {
  public:
    explicit Writer(std::vector<std::byte>& bytes) : bytes_(bytes) {}

    void operator()(const char*, const auto& value, auto... bound) { put(value, bound...); }

    void put(std::unsigned_integral auto value, auto...) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + sizeof value);
        for (std::size_t i = 0; i < sizeof value; ++i)
            bytes_[at + i] = static_cast<std::byte>((std::uint64_t{value} >> (8 * i)) & 0xff);
    }
    template <std::floating_point Float>
    void put(Float value, auto...) {
        put(std::bit_cast<BitsOf<Float>>(value));
    }
    template <Enum Value>
    void put(Value value) {
        put(static_cast<std::underlying_type_t<Value>>(value));
    }
    void put(Time value) { put(static_cast<std::uint64_t>(value.count())); }
    void put(RowIndex value, auto...) { put(value.place()); }
    void put(const Digest& digest) {
        for (const std::uint8_t byte : digest) put(byte);
    }
    void put(const PeerCounts& counts) {
        std::size_t said = counts.size();
        while (said > 0 && counts[said - 1] == 0) --said;
        put_count(said, counts.size());
        for (std::size_t peer = 0; peer < said; ++peer) put(counts[peer]);
    }
    void put(const std::string& text, auto bound) {
        put_count(text.size(), bound.bytes);
        const auto bytes = std::as_bytes(std::span(text));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    void put(const std::string& text, bound::FittedLine bound) {
        put(first_bytes(printable(text), bound.bytes), bound::Line{bound.bytes});
    }
    template <class Value>
    void put(const std::optional<Value>& value, auto... bound) {
        put(value.has_value());
        if (value) put(*value, bound...);
    }
    template <class Item>
    void put(const std::vector<Item>& list, auto... bound) {
        put_list(list, bound...);
    }
    template <class Item>
    void put(const PerRow<Item>& list, auto... bound) {
        put_list(list, bound...);
    }
    void put(const HasFields auto& value) {
        std::remove_cvref_t<decltype(value)>::fields(value, *this);
    }

  private:
    template <class List>
    void put_list(const List& list, bound::AtMost bound = {}) {
        put_count(list.size(), bound.entries);
        for (const auto& item : list) put(item);
    }
    template <class List>
    void put_list(const List& list, bound::AllOrNone bound) {
        put_list(list, bound::AtMost{bound.entries});
    }
    void put_count(std::size_t count, std::size_t limit) {
        AKO_ASSERT(count <= limit, std::to_string(count) + " of at most " + std::to_string(limit));
        put(static_cast<std::uint32_t>(count));
    }

    std::vector<std::byte>& bytes_;
};

// ---- bytes to values

/// What is wrong with a value; thrown here and caught by decode_header, so that reading a message
/// is a list of fields and not a list of checks.
struct Refused {
    std::string what;
};

class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

    void operator()(const char* name, auto& value, auto... bound) {
        const Place place{name, within_};
        within_ = &place;
        get(value, bound...);
        within_ = place.within;
    }
    /// What is left may fill a unit, and is zero.
    void finish() const {
        const auto zero = [](std::byte byte) { return byte == std::byte{0}; };
        if (rest_.size() >= header_unit_bytes || !std::all_of(rest_.begin(), rest_.end(), zero))
            throw Refused{fmt::format("{} bytes after the last field", rest_.size())};
    }

  private:
    /// Where in the message the reader is: a field, and the one that it is part of.
    struct Place {
        const char* name;
        const Place* within;
        std::string text() const { return within == nullptr ? name : within->text() + "." + name; }
    };
    [[noreturn]] void refuse(const std::string& what) const {
        throw Refused{within_->text() + what};
    }
    std::span<const std::byte> take(std::size_t bytes) {
        if (bytes > rest_.size())
            refuse(fmt::format(" is cut off: it needs {} bytes, {} are left", bytes, rest_.size()));
        const auto taken = rest_.first(bytes);
        rest_ = rest_.subspan(bytes);
        return taken;
    }
    template <std::unsigned_integral Number>
    Number number() {
        std::uint64_t value = 0;
        const auto bytes = take(sizeof(Number));
        for (std::size_t i = 0; i < sizeof(Number); ++i)
            value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
        return static_cast<Number>(value);
    }
    std::uint32_t below(std::size_t limit) {
        const auto value = number<std::uint32_t>();
        if (value >= limit) refuse(fmt::format(" is {}, limit {}", value, limit));
        return value;
    }
    /// No more than there are bytes left for, at one each.
    std::size_t count(bound::AtMost bound = {}) {
        const auto entries = number<std::uint32_t>();
        if (entries > bound.entries)
            refuse(fmt::format(" has {} entries, limit {}", entries, bound.entries));
        if (entries > rest_.size()) take(entries);
        return entries;
    }
    std::size_t count(bound::AllOrNone bound) {
        const std::size_t entries = count(bound::AtMost{data_pieces_max});
        if (entries != 0 && entries != bound.entries)
            refuse(fmt::format(" has {} entries, expected {}", entries, bound.entries));
        return entries;
    }

    template <std::unsigned_integral Number>
    void get(Number& value) {
        value = number<Number>();
    }
    void get(bool& value) {
        const auto byte = number<std::uint8_t>();
        if (byte > 1) refuse(fmt::format(" is {}, neither 0 nor 1", byte));
        value = byte == 1;
    }
    void get(PeerIndex& value, bound::Peer) { value = below(peers_max); }
    void get(RowIndex& value) { value = RowIndex::at(below(initial_row.place() + 1)); }
    void get(RowIndex& value, bound::OfPeer) { value = RowIndex::at(below(peers_max)); }
    void get(Time& value) {
        const auto nanoseconds = static_cast<std::int64_t>(number<std::uint64_t>());
        if (nanoseconds < 0 || nanoseconds > time_max.count())
            refuse(fmt::format(" is {} ns, no moment", nanoseconds));
        value = Time{nanoseconds};
    }
    template <std::floating_point Float>
    void get(Float& value) {
        value = std::bit_cast<Float>(number<BitsOf<Float>>());
        if (!std::isfinite(value)) refuse(" is not finite");
    }
    template <std::floating_point Float>
    void get(Float& value, bound::Share) {
        get(value);
        if (value < 0 || value > 1) refuse(fmt::format(" is {}, not in 0 .. 1", value));
    }
    template <std::floating_point Float>
    void get(Float& value, bound::NotNegative) {
        get(value);
        if (value < 0) refuse(" is below 0");
    }
    template <Enum Value>
    void get(Value& value) {
        const auto place = number<std::underlying_type_t<Value>>();
        if (place > static_cast<std::underlying_type_t<Value>>(last(Value{})))
            refuse(fmt::format(" is {}, no known one", place));
        value = static_cast<Value>(place);
    }
    void get(Digest& value) {
        const auto bytes = take(value.size());
        std::memcpy(value.data(), bytes.data(), bytes.size());
    }
    void get(PeerCounts& counts) {
        const std::size_t said = count();
        for (std::size_t peer = 0; peer < said; ++peer) get(counts[peer]);
        if (said > 0 && counts[said - 1] == 0) refuse(" ends with a peer that has none");
    }
    void get(std::string& text, bound::Line bound) {
        get_text(text, bound.bytes, [](const auto& line) { return is_printable(line); });
    }
    void get(std::string& text, bound::FittedLine bound) { get(text, bound::Line{bound.bytes}); }
    void get(std::string& text, bound::Lines bound) {
        get_text(text, bound.bytes, [](const auto& all) { return printable_lines(all) == all; });
    }
    void get_text(std::string& text, std::size_t bytes_max, auto fits) {
        const auto bytes = number<std::uint32_t>();
        if (bytes > bytes_max) refuse(fmt::format(" of {} bytes, limit {}", bytes, bytes_max));
        const auto letters = take(bytes);
        text.assign(reinterpret_cast<const char*>(letters.data()), letters.size());
        if (!fits(text)) refuse(" with what a terminal would obey, or bytes that are not UTF-8");
    }
    template <class Value>
    void get(std::optional<Value>& value, auto... bound) {
        bool there = false;
        get(there);
        value.reset();
        if (there) get(value.emplace(), bound...);
    }
    template <class Item>
    void get(std::vector<Item>& list, auto... bound) {
        list.resize(count(bound...));
        for (Item& item : list) get(item);
    }
    template <class Item>
    void get(PerRow<Item>& list) {
        list.resize(count());
        for (const RowIndex row : AllRows(list.size())) get(list[row]);
    }
    template <HasFields Value>
    void get(Value& value) {
        Value::fields(value, *this);
    }

    std::span<const std::byte> rest_;
    const Place* within_ = nullptr;
};

// ---- headers

Result<Header> malformed(const std::string& what) {
    return fail(Error::Kind::wire, "malformed header: " + what);
}

/// What a peer of another protocol says of that; nothing of any other header.
std::optional<Header> of_another_protocol(std::span<const std::byte> bytes) {
    const auto word = [bytes](std::size_t at) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i)
            value |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * i);
        return value;
    };
    constexpr std::size_t segments_max = 8;
    if (bytes.size() < 4 || word(0) >= segments_max) return std::nullopt;
    // Each segment but the first has a length in 4 bytes more, up to a multiple of 8.
    const std::size_t header = 8 * std::size_t{(word(0) + 3) / 2};
    if (bytes.size() < header + hello_opening.size()) return std::nullopt;
    if (word(header) != 0 || word(header + 4) != 0x0001'0001) return std::nullopt;
    const std::uint32_t kind = word(header + 8);
    const std::uint32_t number = word(header + 24);
    if (kind == 0 && number != protocol_version) {
        Hello hello;
        hello.protocol = number;
        return hello;
    }
    if (kind == 1)
        return Reject{"protocol", fmt::format("{} or before", older_protocol),
                      std::to_string(protocol_version)};
    return std::nullopt;
}

bool begins_with_opening(std::span<const std::byte> bytes) {
    return bytes.size() >= hello_opening.size() &&
           std::memcmp(bytes.data(), hello_opening.data(), hello_opening.size()) == 0;
}

Header read(std::span<const std::byte> bytes) {
    const bool hello = begins_with_opening(bytes);
    const auto kind = std::to_integer<std::size_t>(bytes[0]);
    if (!hello && (kind <= first_kind || kind - first_kind >= std::variant_size_v<Header>))
        throw Refused{fmt::format("message {} is not known", kind)};
    Header header = empty_header(hello ? 0 : kind - first_kind);
    Reader reader(bytes.subspan(hello ? hello_opening.size() : 1));
    std::visit([&](auto& it) { it.fields(it, reader); }, header);
    reader.finish();
    return header;
}

/// The header behind what is in `bytes` already.
void append(std::vector<std::byte>& bytes, const Header& header) {
    const std::size_t before = bytes.size();
    Writer writer(bytes);
    if (header.index() == 0)
        for (const std::uint8_t byte : hello_opening) writer.put(byte);
    else
        writer.put(static_cast<std::uint8_t>(first_kind + header.index()));
    std::visit([&](const auto& it) { writer.put(it); }, header);
    const std::size_t units = (bytes.size() - before + header_unit_bytes - 1) / header_unit_bytes;
    bytes.resize(before + units * header_unit_bytes);
    AKO_ASSERT(bytes.size() - before <= header_bytes_max, std::to_string(bytes.size()));
}

}  // namespace

std::vector<std::byte> encode_header(const Header& header) {
    std::vector<std::byte> bytes;
    append(bytes, header);
    return bytes;
}

std::vector<std::byte> encode_frame_head(const Header& header, std::size_t payload_bytes) {
    AKO_ASSERT(payload_bytes <= payload_bytes_limit && elements_in(payload_bytes),
               std::to_string(payload_bytes) + " bytes of payload");
    std::vector<std::byte> head(frame_prefix_bytes);
    append(head, header);
    const auto bytes = std::span<const std::byte>(head).subspan(frame_prefix_bytes);
    const auto prefix = encode_prefix({bytes.size(), payload_bytes, crc32c(bytes)});
    std::memcpy(head.data(), prefix.data(), prefix.size());
    return head;
}

Result<Header> decode_header(std::span<const std::byte> bytes) {
    if (bytes.empty() || bytes.size() > header_bytes_max || bytes.size() % header_unit_bytes != 0)
        return malformed(fmt::format("{} bytes", bytes.size()));
    if (auto other = of_another_protocol(bytes)) return *std::move(other);
    try {
        return read(bytes);
    } catch (const Refused& refused) {
        return malformed(refused.what);
    }
}

}  // namespace ako
