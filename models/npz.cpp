#include "models/npz.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "ako/error.h"
#include "ako/plain_file.h"

namespace ako {

namespace {

/// Far more than the arrays of any data set take.
constexpr std::uint64_t directory_bytes_max = std::uint64_t{1} << 20;
/// The end record has 22 bytes, and a comment of at most 65,535 behind it.
constexpr std::uint64_t end_bytes = 22;
constexpr std::uint64_t comment_bytes_max = 65'535;
/// Deflate makes at most 1,032 bytes of one (zlib's own figure), and a few of its last block.
constexpr std::uint64_t inflation_max = 1'032;

constexpr std::uint16_t method_stored = 0;
constexpr std::uint16_t method_deflated = 8;
constexpr std::uint16_t flag_encrypted = 1;
constexpr std::uint16_t extra_of_long_sizes = 1;
/// Stands where the number is in the extra field.
constexpr std::uint32_t in_extra = 0xffffffff;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
    throw StartupError(path + ": " + what, "write it again with numpy.savez(\"" +
                                               std::filesystem::path(path).filename().string() +
                                               "\", images=images, labels=labels)");
}

/// The little-endian number of so many bytes at `at`.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t width) {
    std::uint64_t number = 0;
    for (std::size_t k = width; k-- > 0;)
        number = number << 8 | static_cast<unsigned char>(bytes[at + k]);
    return number;
}

std::uint16_t u16_at(std::string_view bytes, std::size_t at) {
    return static_cast<std::uint16_t>(number_at(bytes, at, 2));
}

std::uint32_t u32_at(std::string_view bytes, std::size_t at) {
    return static_cast<std::uint32_t>(number_at(bytes, at, 4));
}

class Archive {
  public:
    explicit Archive(std::string path) : path_(std::move(path)) {
        refuse_what_is_no_file(path_);
        std::error_code error;
        size_ = std::filesystem::file_size(path_, error);
        file_.open(path_, std::ios::binary);
        if (error || !file_)
            refuse(path_, "cannot be opened: " +
                              (error ? error.message() : std::generic_category().message(errno)));
    }

    std::uint64_t size() const { return size_; }
    const std::string& path() const { return path_; }
    std::ifstream& file() { return file_; }

    /// So many bytes at a place that an archive named.
    std::string bytes_at(std::uint64_t at, std::uint64_t count, const char* what) {
        if (at > size_ || count > size_ - at)
            refuse(path_, std::string("damaged: it ends within ") + what);
        std::string bytes(count, '\0');
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(at));
        file_.read(bytes.data(), static_cast<std::streamsize>(count));
        if (!file_) refuse(path_, "cannot be read");
        return bytes;
    }

  private:
    const std::string path_;
    std::uint64_t size_ = 0;
    std::ifstream file_;
};

/// Where the directory is.
struct Directory {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
};

/// That of an archive with long places, whose record lies before the usual one.
Directory long_directory(Archive& archive, std::uint64_t end_at) {
    constexpr std::uint64_t locator_bytes = 20, record_bytes = 56;
    const std::string locator = archive.bytes_at(
        end_at < locator_bytes ? archive.size() : end_at - locator_bytes, locator_bytes, "its end");
    if (!locator.starts_with("PK\x06\x07")) refuse(archive.path(), "damaged: it has no directory");
    const std::string record =
        archive.bytes_at(number_at(locator, 8, 8), record_bytes, "its end record");
    if (!record.starts_with("PK\x06\x06")) refuse(archive.path(), "damaged: it has no directory");
    return {number_at(record, 48, 8), number_at(record, 40, 8)};
}

Directory find_directory(Archive& archive) {
    const std::uint64_t tail_bytes = std::min(archive.size(), end_bytes + comment_bytes_max);
    const std::string tail =
        archive.bytes_at(archive.size() - tail_bytes, tail_bytes, "its end record");
    std::size_t at = tail.rfind("PK\x05\x06");
    while (at != std::string::npos &&
           (tail.size() - at < end_bytes || tail.size() - at - end_bytes < u16_at(tail, at + 20)))
        at = at == 0 ? std::string::npos : tail.rfind("PK\x05\x06", at - 1);
    if (at == std::string::npos) refuse(archive.path(), "not an .npz archive, or cut off");
    const Directory found{u32_at(tail, at + 16), u32_at(tail, at + 12)};
    const bool is_long =
        found.at == in_extra || found.bytes == in_extra || u16_at(tail, at + 10) == 0xffff;
    return is_long ? long_directory(archive, archive.size() - tail_bytes + at) : found;
}

/// Takes the long sizes and the place out of an entry's extra field, in the order of the format.
void read_long_sizes(std::string_view extra, NpzMember& member, const std::string& path) {
    while (extra.size() >= 4) {
        const std::size_t bytes = u16_at(extra, 2);
        if (bytes > extra.size() - 4) break;
        if (u16_at(extra, 0) == extra_of_long_sizes) {
            std::string_view numbers = extra.substr(4, bytes);
            for (std::uint64_t* number : {&member.bytes, &member.stored_bytes, &member.header_at}) {
                if (*number != in_extra) continue;
                if (numbers.size() < 8) refuse(path, "damaged: an entry of its directory is short");
                *number = number_at(numbers, 0, 8);
                numbers.remove_prefix(8);
            }
            return;
        }
        extra.remove_prefix(4 + bytes);
    }
}

void check_member(const NpzMember& member, std::uint16_t flags, std::uint16_t method,
                  const Archive& archive) {
    const auto refuse_member = [&](const std::string& what) {
        refuse(archive.path(), member.name + ": " + what);
    };
    if ((flags & flag_encrypted) != 0) refuse_member("encrypted");
    if (method != method_stored && method != method_deflated)
        refuse_member("compressed by a method that NumPy does not write (" +
                      std::to_string(method) + ")");
    if (member.stored_bytes > archive.size()) refuse_member("damaged: larger than the archive");
    if (!member.deflated && member.bytes != member.stored_bytes)
        refuse_member("damaged: two sizes of what is not compressed");
    if (member.bytes / inflation_max > member.stored_bytes + 1)
        refuse_member("damaged: " + std::to_string(member.stored_bytes) +
                      " compressed bytes cannot hold " + std::to_string(member.bytes));
}

/// Inflates, or hands on, what a member holds.
class MemberSource final : public ByteSource {
  public:
    MemberSource(const std::string& path, const NpzMember& member)
        : archive_(path), member_(member) {
        constexpr std::uint64_t header_bytes = 30;
        const std::string header =
            archive_.bytes_at(member_.header_at, header_bytes, "an array's header");
        if (!header.starts_with("PK\x03\x04")) refuse_here("damaged: it is not where it should");
        const std::uint64_t at =
            member_.header_at + header_bytes + u16_at(header, 26) + u16_at(header, 28);
        archive_.bytes_at(at, 0, "an array");
        if (member_.stored_bytes > archive_.size() - at) refuse_here("damaged: it ends within it");
        archive_.file().seekg(static_cast<std::streamoff>(at));
        stored_left_ = member_.stored_bytes;
        // Negative: a stream without zlib's own header.
        if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) refuse_here("cannot be inflated");
    }
    ~MemberSource() override { inflateEnd(&stream_); }
    MemberSource(const MemberSource&) = delete;
    MemberSource& operator=(const MemberSource&) = delete;

    std::uint64_t size() const override { return member_.bytes; }

    std::size_t read(void* to, std::size_t bytes) override {
        auto* const start = static_cast<unsigned char*>(to);
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, left()));
        for (std::size_t done = 0; done < wanted;) {
            // Both zlib's checksum and its streams count in 32 bits.
            const std::size_t part = std::min(wanted - done, std::size_t{1} << 20);
            const std::size_t got = member_.deflated ? inflate_into(start + done, part)
                                                     : take_stored(start + done, part);
            checksum_ = crc32(checksum_, start + done, static_cast<uInt>(got));
            done += got;
            given_ += got;
        }
        if (wanted > 0 && left() == 0 && checksum_ != member_.checksum)
            refuse_here("damaged: wrong checksum");
        return wanted;
    }

  private:
    [[noreturn]] void refuse_here(const std::string& what) const {
        refuse(archive_.path(), member_.name + ": " + what);
    }
    std::uint64_t left() const { return member_.bytes - given_; }

    std::size_t take_stored(unsigned char* to, std::size_t bytes) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, stored_left_));
        archive_.file().read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count));
        if (!archive_.file() || count == 0) refuse_here("damaged: it ends too early");
        stored_left_ -= count;
        return count;
    }

    /// Some bytes, one at least.
    std::size_t inflate_into(unsigned char* to, std::size_t bytes) {
        stream_.next_out = to;
        stream_.avail_out = static_cast<uInt>(bytes);
        while (stream_.avail_out == bytes) {
            if (stream_.avail_in == 0 && stored_left_ > 0) {
                stream_.avail_in = static_cast<uInt>(take_stored(input_.data(), input_.size()));
                stream_.next_in = input_.data();
            }
            const int said = inflate(&stream_, Z_NO_FLUSH);
            const bool moved = stream_.avail_out < bytes;
            if (said != Z_OK && !(said == Z_STREAM_END && moved))
                refuse_here("damaged compression");
        }
        return bytes - stream_.avail_out;
    }

    Archive archive_;
    const NpzMember member_;
    std::uint64_t stored_left_ = 0;
    std::uint64_t given_ = 0;
    uLong checksum_ = crc32(0, nullptr, 0);
    z_stream stream_ = {};
    std::array<unsigned char, std::size_t{1} << 16> input_ = {};
};

}  // namespace

std::vector<NpzMember> read_npz_directory(const std::string& path) {
    constexpr std::size_t entry_bytes = 46;
    constexpr std::string_view suffix = ".npy";
    Archive archive(path);
    const Directory directory = find_directory(archive);
    if (directory.bytes > directory_bytes_max)
        refuse(path, "a directory of " + std::to_string(directory.bytes) + " bytes");
    const std::string text = archive.bytes_at(directory.at, directory.bytes, "its directory");
    std::vector<NpzMember> members;
    for (std::string_view rest = text; rest.starts_with("PK\x01\x02");) {
        if (rest.size() < entry_bytes) refuse(path, "damaged: its directory is cut off");
        const std::size_t name_bytes = u16_at(rest, 28), extra_bytes = u16_at(rest, 30);
        const std::size_t whole = entry_bytes + name_bytes + extra_bytes + u16_at(rest, 32);
        if (rest.size() < whole) refuse(path, "damaged: its directory is cut off");
        NpzMember member;
        member.name = rest.substr(entry_bytes, name_bytes);
        member.deflated = u16_at(rest, 10) == method_deflated;
        member.checksum = u32_at(rest, 16);
        member.stored_bytes = u32_at(rest, 20);
        member.bytes = u32_at(rest, 24);
        member.header_at = u32_at(rest, 42);
        read_long_sizes(rest.substr(entry_bytes + name_bytes, extra_bytes), member, path);
        if (member.name.ends_with(suffix)) {
            member.name.resize(member.name.size() - suffix.size());
            check_member(member, u16_at(rest, 8), u16_at(rest, 10), archive);
            members.push_back(std::move(member));
        }
        rest.remove_prefix(whole);
    }
    if (members.empty()) refuse(path, "an archive without arrays");
    return members;
}

std::unique_ptr<ByteSource> open_npz_member(const std::string& path, const NpzMember& member) {
    return std::make_unique<MemberSource>(path, member);
}

}  // namespace ako
