#include "src/launch/report_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace ako {

ReportPipe::ReportPipe(int fd) : fd_(fd) {
    if (fd_ < 0) return;
    fcntl(fd_, F_SETFL, O_NONBLOCK);
    fcntl(fd_, F_SETFD, FD_CLOEXEC);
}

ReportPipe::~ReportPipe() {
    if (fd_ >= 0) close(fd_);
}

void ReportPipe::write_rest() {
    while (fd_ >= 0 && !rest_.empty()) {
        const ssize_t written = write(fd_, rest_.data(), rest_.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno != EAGAIN) rest_.clear();  // nobody is there any more
        if (written < 0) return;
        rest_.erase(0, static_cast<std::size_t>(written));
    }
}

void ReportPipe::offer(std::string_view line) {
    write_rest();
    if (!rest_.empty()) return;
    rest_ = line;
    write_rest();
}

void ReportPipe::send(std::string_view line, std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    rest_ += line;
    write_rest();
    while (fd_ >= 0 && !rest_.empty()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            until - std::chrono::steady_clock::now());
        if (left.count() <= 0) return;
        pollfd room{fd_, POLLOUT, 0};
        poll(&room, 1, static_cast<int>(left.count()));
        write_rest();
    }
}

}  // namespace ako
