#include "src/results/checkpoint_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "src/numbers/checksum.h"
#include "src/numbers/digest.h"

namespace ako {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "lists are stored as they lie");

constexpr const char* format_word = "ako checkpoint 1";
constexpr const char* file_begin = "state-";
constexpr const char* file_end = ".safetensors";
constexpr const char* metadata_key = "__metadata__";
/// Once in a header: a quotation mark in a text is written with a backslash before it.
constexpr const char* checksum_begin = "\"crc32c\":\"";
constexpr std::size_t checksum_digits = 8;
/// The text of the settings is 64 KiB at most, and a list takes a hundred bytes.
constexpr std::uint64_t header_bytes_max = std::uint64_t{1} << 20;
/// Lists and objects stand no deeper within each other: header, tensor, shape.
constexpr int header_depth_max = 3;
constexpr std::size_t read_bytes = std::size_t{1} << 20;

tl::unexpected<Error> wrong(std::string what) { return fail(Error::Kind::io, std::move(what)); }

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

/// A list of the file, whatever is in it.
struct Piece {
    const std::string& name;
    const char* type;
    std::size_t count;
    std::span<const std::byte> bytes;
};

std::vector<Piece> pieces_of(const Checkpoint& checkpoint) {
    std::vector<Piece> pieces;
    for (const auto& [name, values] : checkpoint.floats)
        pieces.push_back({name, "F32", values.size(), std::as_bytes(std::span(values))});
    // Eight bytes each, and behind an odd number of floats they would lie askew; nobody minds.
    for (const auto& [name, values] : checkpoint.words)
        pieces.push_back({name, "U64", values.size(), std::as_bytes(std::span(values))});
    return pieces;
}

std::string header_text(const CheckpointOwner& owner, const Checkpoint& checkpoint,
                        const std::vector<Piece>& pieces) {
    nlohmann::ordered_json header;
    header[metadata_key] = {{"format", format_word},
                            {"run", owner.run},
                            {"peer", owner.peer},
                            {"peers", fmt::format("{}", fmt::join(owner.peers, "\n"))},
                            {"training", hex(owner.training)},
                            {"layout", hex(owner.layout)},
                            {"initial", hex(owner.initial)},
                            {"settings", owner.settings},
                            {"start", fmt::format("{:016x}", checkpoint.id.start)},
                            {"round", fmt::to_string(checkpoint.id.round)},
                            {"samples", fmt::to_string(checkpoint.samples)},
                            {"progress", fmt::format("{}", checkpoint.progress)},
                            {"seconds", fmt::format("{:.1f}", checkpoint.past.seconds)},
                            {"starts", fmt::to_string(checkpoint.past.starts)},
                            {"numbers", Json(checkpoint.numbers).dump()},
                            {"crc32c", std::string(checksum_digits, '0')}};
    std::size_t begin = 0;
    for (const Piece& piece : pieces) {
        const std::size_t end = begin + piece.bytes.size();
        header[piece.name] = {
            {"dtype", piece.type}, {"shape", {piece.count}}, {"data_offsets", {begin, end}}};
        begin = end;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return text;
}

/// Where in the header the digits of the checksum stand.
std::optional<std::size_t> checksum_place(const std::string& header) {
    const std::size_t place = header.find(checksum_begin);
    if (place == std::string::npos) return std::nullopt;
    const std::size_t digits = place + std::strlen(checksum_begin);
    if (digits + checksum_digits > header.size()) return std::nullopt;
    return digits;
}

// ---- reading

/// An open file whose header has been read; the checksum of what was read so far.
struct OpenFile {
    std::ifstream stream;
    std::uint64_t data_bytes = 0;
    Json header;
    std::string stated;  ///< the checksum, in digits
    std::uint32_t checksum = 0;

    bool read(std::span<std::byte> out) {
        stream.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
        checksum = crc32c(out, checksum);
        return static_cast<bool>(stream);
    }
    const Json& metadata() const { return header.at(metadata_key); }
};

/// Null unless it is an object that is no deeper than a header: what walks through JSON calls
/// itself for each level, and a file must not decide how often.
Json parse_header(const std::string& text) {
    int deepest = 0;
    const auto watch = [&deepest](int depth, Json::parse_event_t event, Json&) {
        const bool begins =
            event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
        if (begins) deepest = std::max(deepest, depth + 1);
        return !begins || depth < header_depth_max;
    };
    Json header = Json::parse(text, watch, false);
    return header.is_object() && deepest <= header_depth_max ? header : Json();
}

Result<OpenFile> open_checkpoint(const std::string& path) {
    OpenFile file;
    std::error_code error;
    const std::uint64_t file_bytes = fs::file_size(path, error);
    if (!error) file.stream.open(path, std::ios::binary);
    if (error || !file.stream)
        return wrong("cannot be opened: " +
                     (error ? error.message() : std::generic_category().message(errno)));
    std::uint64_t header_bytes = 0;
    if (!file.read(std::as_writable_bytes(std::span(&header_bytes, 1))))
        return wrong("is cut off: it has fewer than 8 bytes");
    if (header_bytes > header_bytes_max) return wrong("is no checkpoint of Ako, or damaged");
    if (header_bytes > file_bytes - sizeof header_bytes)
        return wrong("is cut off within its header");
    file.data_bytes = file_bytes - sizeof header_bytes - header_bytes;
    std::string text(header_bytes, '\0');
    file.stream.read(text.data(), static_cast<std::streamsize>(header_bytes));
    file.header = parse_header(text);
    const auto place = checksum_place(text);
    if (!file.stream || !place || !file.header.is_object() || !file.header.contains(metadata_key) ||
        !file.header[metadata_key].is_object())
        return wrong("is no checkpoint of Ako, or damaged");
    file.stated = text.substr(*place, checksum_digits);
    text.replace(*place, checksum_digits, checksum_digits, '0');
    file.checksum = crc32c(bytes_of(text), file.checksum);
    const Json format = file.metadata().value("format", Json());
    if (format != format_word)
        return wrong(fmt::format("is of the format {}, not \"{}\": another version of Ako wrote it",
                                 format.dump(), format_word));
    return file;
}

/// After the last byte.
Result<void> require_checksum(const OpenFile& file) {
    const std::string found = fmt::format("{:08x}", file.checksum);
    if (found == file.stated) return {};
    return wrong(
        fmt::format("is damaged: it has the checksum {} and states {}", found, file.stated));
}

/// The texts of the metadata. Nothing in them is believed before the checksum has been found right;
/// what is not as it was written is a bug of who wrote it, and said.
class Texts {
  public:
    explicit Texts(const Json& metadata) : metadata_(metadata) {}

    std::string text(const char* key) {
        const auto found = metadata_.find(key);
        if (found != metadata_.end() && found->is_string()) return found->get<std::string>();
        lacks(key);
        return "";
    }
    template <class Number>
    Number number(const char* key, int base = 10) {
        const std::string digits = text(key);
        Number value{};
        const char* const end = digits.data() + digits.size();
        std::from_chars_result read{};
        if constexpr (std::is_floating_point_v<Number>)
            read = std::from_chars(digits.data(), end, value);
        else
            read = std::from_chars(digits.data(), end, value, base);
        if (read.ec != std::errc() || read.ptr != end) lacks(key);
        return value;
    }
    Digest digest(const char* key) {
        const std::string digits = text(key);
        Digest digest{};
        bool whole = digits.size() == 2 * digest.size();
        for (std::size_t k = 0; whole && k < digest.size(); ++k) {
            const char* const at = digits.data() + 2 * k;
            whole = std::from_chars(at, at + 2, digest[k], 16).ptr == at + 2;
        }
        if (!whole) lacks(key);
        return digest;
    }
    /// Earlier versions did not write it.
    template <class Number>
    Number number_or(const char* key, Number otherwise) {
        return metadata_.contains(key) ? number<Number>(key) : otherwise;
    }
    void lacks(const char* key) {
        if (lacking_.empty()) lacking_ = key;
    }
    const std::string& lacking() const { return lacking_; }

  private:
    const Json& metadata_;
    std::string lacking_;  ///< the first; empty: nothing
};

Result<CheckpointHead> head_of(const OpenFile& file) {
    Texts texts(file.metadata());
    CheckpointHead head;
    head.owner = {texts.text("run"),        texts.text("peer"),     lines_of(texts.text("peers")),
                  texts.digest("training"), texts.digest("layout"), texts.digest("initial"),
                  texts.text("settings")};
    head.id = {texts.number<std::uint64_t>("start", 16), texts.number<Round>("round")};
    head.progress = texts.number<double>("progress");
    head.past = {texts.number_or<double>("seconds", 0),
                 texts.number_or<std::uint64_t>("starts", 1)};
    if (!texts.lacking().empty()) return wrong("says nothing of its " + texts.lacking());
    return head;
}

/// Fills the list of this entry from the file.
template <class T>
bool read_list(OpenFile& file, std::uint64_t bytes, std::vector<T>& out) {
    out.resize(bytes / sizeof(T));
    return bytes % sizeof(T) == 0 && file.read(std::as_writable_bytes(std::span(out)));
}

/// All lists, in the order in which they lie there without gaps.
Result<void> read_lists(OpenFile& file, Checkpoint& checkpoint) {
    // By where they lie: one without values ends where the next begins.
    std::set<std::tuple<std::uint64_t, std::uint64_t, std::string>> lists;
    for (const auto& [name, entry] : file.header.items())
        if (name != metadata_key)
            lists.emplace(entry.at("data_offsets").at(0), entry.at("data_offsets").at(1), name);
    std::uint64_t at = 0;
    for (const auto& [begin, end, name] : lists) {
        const Json& entry = file.header[name];
        if (begin != at || end < begin || end > file.data_bytes)
            return wrong("is cut off, or damaged: " + name + " is not where it says");
        const bool whole = entry.at("dtype") == "F32"
                               ? read_list(file, end - begin, checkpoint.floats[name])
                               : read_list(file, end - begin, checkpoint.words[name]);
        if (!whole) return wrong("cannot be read: " + name);
        at = end;
    }
    if (at != file.data_bytes) return wrong("has bytes behind its end: it is damaged");
    return {};
}

/// The digits of "state-a-40.safetensors"; empty if it is no such name.
std::string round_of(const std::string& name) {
    if (!name.ends_with(file_end)) return "";
    const std::string stem = name.substr(0, name.size() - std::strlen(file_end));
    const std::size_t dash = stem.rfind('-');
    if (dash == std::string::npos) return "";
    const std::string round = stem.substr(dash + 1);
    return round.find_first_not_of("0123456789") == std::string::npos ? round : "";
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines(1);
    for (const char c : text) {
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back() += c;
    }
    return lines;
}

std::string checkpoint_path(const std::string& folder, const std::string& peer, Round round) {
    return fmt::format("{}/{}{}-{}{}", folder, file_begin, peer, round, file_end);
}

std::string unfinished_checkpoint_path(const std::string& folder, const std::string& peer) {
    return fmt::format("{}/{}{}.partial", folder, file_begin, peer);
}

std::vector<std::string> checkpoint_paths(const std::string& folder) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with(file_begin) && !peer_in_name(name).empty())
            found.push_back(entry->path().string());
    }
    return found;
}

std::string peer_in_name(const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    const std::size_t begin = std::strlen(file_begin), round = round_of(name).size();
    const std::size_t around = begin + 1 + round + std::strlen(file_end);
    return round > 0 && name.size() > around ? name.substr(begin, name.size() - around) : "";
}

std::vector<std::string> checkpoint_paths(const std::string& folder, const std::string& peer) {
    std::vector<std::string> found = checkpoint_paths(folder);
    std::erase_if(found, [&peer](const std::string& path) { return peer_in_name(path) != peer; });
    return found;
}

Result<void> write_checkpoint(FileLayer& files, const std::string& folder,
                              const CheckpointOwner& owner, const Checkpoint& checkpoint) {
    const std::vector<Piece> pieces = pieces_of(checkpoint);
    std::string header = header_text(owner, checkpoint, pieces);
    const std::uint64_t header_bytes = header.size();
    std::vector<std::span<const std::byte>> all = {std::as_bytes(std::span(&header_bytes, 1)),
                                                   bytes_of(header)};
    for (const Piece& piece : pieces) all.push_back(piece.bytes);
    std::uint32_t checksum = 0;
    for (const std::span<const std::byte> bytes : all) checksum = crc32c(bytes, checksum);
    header.replace(checksum_place(header).value(), checksum_digits,
                   fmt::format("{:08x}", checksum));
    all[1] = bytes_of(header);
    return write_durable_file(files, checkpoint_path(folder, owner.peer, checkpoint.id.round),
                              unfinished_checkpoint_path(folder, owner.peer), all);
}

Result<CheckpointHead> check_checkpoint(const std::string& path) {
    Result<OpenFile> file = open_checkpoint(path);
    if (!file) return tl::make_unexpected(file.error());
    std::vector<std::byte> some(read_bytes);
    for (std::uint64_t left = file->data_bytes; left > 0;) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, read_bytes));
        if (!file->read(std::span(some).first(count))) return wrong("cannot be read to its end");
        left -= count;
    }
    if (const auto whole = require_checksum(*file); !whole)
        return tl::make_unexpected(whole.error());
    return head_of(*file);
}

Result<Checkpoint> read_checkpoint(const std::string& path) try {
    Result<OpenFile> file = open_checkpoint(path);
    if (!file) return tl::make_unexpected(file.error());
    Checkpoint checkpoint;
    if (const auto lists = read_lists(*file, checkpoint); !lists)
        return tl::make_unexpected(lists.error());
    if (const auto whole = require_checksum(*file); !whole)
        return tl::make_unexpected(whole.error());
    const Result<CheckpointHead> head = head_of(*file);
    if (!head) return tl::make_unexpected(head.error());
    Texts texts(file->metadata());
    checkpoint.id = head->id;
    checkpoint.progress = head->progress;
    checkpoint.past = head->past;
    checkpoint.samples = texts.number<std::uint64_t>("samples");
    checkpoint.numbers =
        Json::parse(texts.text("numbers")).get<std::map<std::string, std::uint64_t>>();
    if (!texts.lacking().empty()) return wrong("says nothing of its " + texts.lacking());
    return checkpoint;
} catch (const nlohmann::json::exception& error) {
    return wrong("is damaged: its header is not as Ako writes it");
}

}  // namespace ako
