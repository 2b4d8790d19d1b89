#include "src/results/milestone_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "ako/error.h"
#include "src/system/output_file.h"

namespace ako {

namespace {

struct FileHead {
    std::array<char, 8> magic = {'a', 'k', 'o', 'm', 'i', 'l', 'e', 's'};
    std::uint64_t parameter_count = 0;
};

struct Moment {
    std::int64_t began_ns = 0;
    double seconds = 0;
    std::uint64_t round = 0;
    std::uint64_t samples = 0;
    double progress = 0;
};

static_assert(sizeof(FileHead) == 16 && sizeof(Moment) == 40, "as the header of this file says");

std::string system_text() { return std::generic_category().message(errno); }

/// All of it, or false.
bool read_whole(int fd, void* memory, std::size_t bytes) {
    auto* next = static_cast<char*>(memory);
    while (bytes > 0) {
        const ssize_t count = read(fd, next, bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        next += count;
        bytes -= static_cast<std::size_t>(count);
    }
    return true;
}

std::size_t bytes_each(std::size_t parameter_count) {
    return sizeof(Moment) + parameter_count * sizeof(float);
}

/// The size of a file that is open; 0 if that cannot be found out.
std::uint64_t bytes_there(int fd) {
    struct stat about {};
    return fd < 0 || fstat(fd, &about) != 0 ? 0 : static_cast<std::uint64_t>(about.st_size);
}

/// Whole milestones in a file of so many bytes, the head's included.
std::size_t count_in(std::uint64_t bytes, std::size_t parameter_count) {
    return bytes < sizeof(FileHead) ? 0 : (bytes - sizeof(FileHead)) / bytes_each(parameter_count);
}

}  // namespace

std::string milestone_path(const std::string& folder, const std::string& peer) {
    return fmt::format("{}/milestones-{}.bin", folder, peer);
}

MilestoneWriter::MilestoneWriter(std::string path, std::size_t parameter_count,
                                 std::function<void(const std::string&)> say, bool goes_on)
    : path_(std::move(path)), say_(std::move(say)) {
    const Result<int> file = open_output(path_, 0);
    if (!file)
        throw StartupError(fmt::format("{}: cannot be written: {}", path_, file.error().what),
                           "is the output folder writable, the disk full?");
    fd_ = *file;
    const FileHead head{.parameter_count = parameter_count};
    const std::uint64_t there = goes_on ? bytes_there(fd_) : 0;
    if (there >= sizeof head)
        bytes_ = sizeof head + count_in(there, parameter_count) * bytes_each(parameter_count);
    if (!cut_to(bytes_) ||
        (bytes_ == 0 && write(fd_, &head, sizeof head) != static_cast<ssize_t>(sizeof head)))
        throw StartupError(fmt::format("{}: cannot be written: {}", path_, system_text()),
                           "is the output folder writable, the disk full?");
    bytes_ = std::max<std::uint64_t>(bytes_, sizeof head);
}

bool MilestoneWriter::cut_to(std::uint64_t bytes) {
    return ftruncate(fd_, static_cast<off_t>(bytes)) == 0 &&
           lseek(fd_, static_cast<off_t>(bytes), SEEK_SET) >= 0;
}

MilestoneWriter::~MilestoneWriter() { close(fd_); }

void MilestoneWriter::append(const CurvePoint& moment, Time began,
                             std::span<const float> parameters) {
    Moment head{began.count(), moment.seconds, moment.round, moment.samples, moment.progress};
    // writev only reads; its type is shared with readv.
    const std::array<iovec, 2> parts = {
        {{&head, sizeof head}, {const_cast<float*>(parameters.data()), parameters.size_bytes()}}};
    const auto bytes = static_cast<ssize_t>(sizeof head + parameters.size_bytes());
    const ssize_t written = writev(fd_, parts.data(), parts.size());
    if (written == bytes) {
        bytes_ += static_cast<std::uint64_t>(bytes);
        return;
    }
    const std::string why = written < 0 ? system_text() : "only a part of it could be written";
    // The next one must not stand behind a piece of this one.
    const bool mended = cut_to(bytes_);
    if (!failing_)
        say_(fmt::format("{}: a milestone is left out, training goes on: {}{}", path_, why,
                         mended ? "" : "; those after it are lost too"));
    failing_ = true;
}

MilestoneReader::MilestoneReader(std::string path, std::size_t parameter_count)
    : path_(std::move(path)) {
    fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw StartupError(fmt::format("{}: cannot be opened: {}", path_, system_text()));
    FileHead head;
    if (!read_whole(fd_, &head, sizeof head) || head.magic != FileHead{}.magic ||
        head.parameter_count != parameter_count) {
        close(fd_);
        throw StartupError(fmt::format("{}: not the milestones of a network with {} parameters",
                                       path_, parameter_count));
    }
    count_ = count_in(bytes_there(fd_), parameter_count);
}

MilestoneReader::~MilestoneReader() { close(fd_); }

CurvePoint MilestoneReader::next(std::span<float> parameters) {
    Moment moment;
    if (!read_whole(fd_, &moment, sizeof moment) ||
        !read_whole(fd_, parameters.data(), parameters.size_bytes()))
        throw StartupError(fmt::format("{}: cannot be read: {}", path_, system_text()));
    if (!began_) began_ = Time(moment.began_ns);
    CurvePoint point;
    point.seconds = moment.seconds + seconds_of(Time(moment.began_ns) - *began_);
    point.round = moment.round;
    point.samples = moment.samples;
    point.progress = moment.progress;
    return point;
}

}  // namespace ako
