// See line_file.h.
#include "src/results/line_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "ako/error.h"
#include "src/system/file_layer.h"
#include "src/system/output_file.h"

namespace ako {
namespace {

std::string newest_error() { return std::generic_category().message(errno); }

/// Where the last whole line of a file ends; nothing where it cannot be read to its end.
std::optional<std::uint64_t> end_of_lines(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    std::array<char, 1 << 16> part{};
    std::uint64_t seen = 0;
    std::uint64_t whole = 0;
    ssize_t count = 0;
    while ((count = read(fd, part.data(), part.size())) > 0 || (count < 0 && errno == EINTR)) {
        for (ssize_t k = 0; k < count; ++k) {
            ++seen;
            if (part[static_cast<std::size_t>(k)] == '\n') whole = seen;
        }
    }
    const int error = errno;
    close(fd);
    errno = error;
    return count == 0 ? std::optional(whole) : std::nullopt;
}

bool is_regular(int fd) {
    struct stat about {};
    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

}  // namespace

LineFile::LineFile(std::string path, bool goes_on, std::string what, Say say)
    : path_(std::move(path)), what_(std::move(what)), say_(std::move(say)) {
    const Result<int> file = open_output(path_, O_APPEND | (goes_on ? 0 : O_TRUNC));
    if (!file)
        throw StartupError(path_ + ": cannot be written: " + file.error().what,
                           "is the output folder writable?");
    fd_ = *file;
    if (!goes_on || !is_regular(fd_)) return;
    const auto whole = end_of_lines(path_);
    if (!whole) {
        const std::string why = newest_error();
        close(fd_);
        throw StartupError(path_ + ": cannot be read to its end, to go on there: " + why,
                           "move it away, or name another output folder");
    }
    whole_bytes_ = *whole;
    empty_ = whole_bytes_ == 0;
    drop_half();
}

LineFile::~LineFile() { close(fd_); }

void LineFile::drop_half() {
    half_stays_ = ftruncate(fd_, static_cast<off_t>(whole_bytes_)) != 0;
}

void LineFile::write(const std::string& line) {
    const std::string text = fmt::format("{}{}\n", half_stays_ ? "\n" : "", line);
    const Result<void> done = SystemFiles().write(fd_, std::as_bytes(std::span(text)));
    if (!done) {
        drop_half();
        if (lost_++ == 0)
            say_(fmt::format("{}: no {} while it cannot be written, training goes on: {}", path_,
                             what_, done.error().what));
        return;
    }
    struct stat about {};
    whole_bytes_ = fstat(fd_, &about) == 0 ? static_cast<std::uint64_t>(about.st_size)
                                           : whole_bytes_ + text.size();
    half_stays_ = false;
    empty_ = false;
    if (lost_ > 0)
        say_(fmt::format("{}: {} go on, {} line{} lost", path_, what_, lost_,
                         lost_ == 1 ? " was" : "s were"));
    lost_ = 0;
}

}  // namespace ako
