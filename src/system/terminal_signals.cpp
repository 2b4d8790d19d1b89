#include "src/system/terminal_signals.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace ako {

namespace {

// A handler has no argument of its own.
std::atomic<int> event_fd = -1;
std::atomic<bool> resized = false;
std::atomic<bool> suspend = false;

constexpr std::array watched = {SIGWINCH, SIGTSTP};
std::array<struct sigaction, watched.size()> before;  ///< whose signals they were

void on_terminal(int number) {
    const int error = errno;
    (number == SIGWINCH ? resized : suspend) = true;
    const std::uint64_t one = 1;
    if (::write(event_fd, &one, sizeof one) < 0) errno = error;  // full: it is to be read anyway
    errno = error;
}

}  // namespace

TerminalSignals::TerminalSignals() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (fd_ < 0) return;
    event_fd = fd_;
    struct sigaction action {};
    action.sa_handler = on_terminal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (std::size_t k = 0; k < watched.size(); ++k) sigaction(watched[k], &action, &before[k]);
}

TerminalSignals::~TerminalSignals() {
    if (fd_ < 0) return;
    for (std::size_t k = 0; k < watched.size(); ++k) {
        struct sigaction now {};
        sigaction(watched[k], nullptr, &now);  // the program may have taken it since
        if (now.sa_handler == on_terminal) sigaction(watched[k], &before[k], nullptr);
    }
    event_fd = -1;
    close(fd_);
}

TerminalSignals::Taken TerminalSignals::take() const {
    std::uint64_t count = 0;
    if (fd_ >= 0 && ::read(fd_, &count, sizeof count) < 0) return {};  // nothing came
    return {resized.exchange(false), suspend.exchange(false)};
}

}  // namespace ako
