#include "src/system/terminal_signals.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "src/system/taken_signals.h"

namespace ako {

namespace {

// A handler has no argument of its own.
std::atomic<int> event_fd = -1;
std::atomic<bool> resized = false;
std::atomic<bool> suspend = false;

constinit TakenSignals watched(std::array{SIGWINCH, SIGTSTP});

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
    watched.take(on_terminal, SA_RESTART);
}

TerminalSignals::~TerminalSignals() {
    if (fd_ < 0) return;
    watched.give_back();
    event_fd = -1;
    close(fd_);
}

TerminalSignals::Taken TerminalSignals::take() const {
    std::uint64_t count = 0;
    if (fd_ >= 0 && ::read(fd_, &count, sizeof count) < 0) return {};  // nothing came
    return {resized.exchange(false), suspend.exchange(false)};
}

}  // namespace ako
