#include "src/launch/report_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace ako {
namespace {

/// As write. Launch may be gone, which is no reason for a program to die of SIGPIPE: that is a
/// program's own, and may have the handling that it has by default.
ssize_t write_without_signal(int fd, std::string_view text) {
    sigset_t broken, before, pending;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    const ssize_t written = write(fd, text.data(), text.size());
    const int error = errno;
    if (written < 0 && error == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
        constexpr timespec at_once{0, 0};
        sigtimedwait(&broken, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return written;
}

}  // namespace

ReportPipe::ReportPipe(int fd) : fd_(fd) {
    if (fd_ < 0) return;
    fcntl(fd_, F_SETFL, O_NONBLOCK);
    fcntl(fd_, F_SETFD, FD_CLOEXEC);
}

ReportPipe::~ReportPipe() {
    if (fd_ >= 0) close(fd_);
}

void ReportPipe::close_in_child() const {
    if (fd_ >= 0) close(fd_);
}

void ReportPipe::write_rest() {
    while (fd_ >= 0 && !rest_.empty()) {
        const ssize_t written = write_without_signal(fd_, rest_);
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
