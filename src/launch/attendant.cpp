// See attendant.h.
#include "src/launch/attendant.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>

#include "ako/ending.h"
#include "src/launch/peer_child.h"

namespace ako {
namespace {

constexpr int not_found = 127;

/// A signal that is sent to a whole machine reaches some peers by itself, and others only by their
/// attendants: which, depends on how an engine keeps count of processes. So long it is waited for
/// the one before the other.
constexpr std::chrono::milliseconds direct_signal{1000};

using SteadyTime = std::chrono::steady_clock::time_point;

/// In the child: nothing but calls that are safe after fork.
[[noreturn]] void become_attended(char* const* words, int report_fd, pid_t attendant) {
    // Nobody would ask the peer to stop any more.
    prctl(PR_SET_PDEATHSIG, SIGINT);
    if (getppid() != attendant) _exit(exit_start_up);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGHUP, SIG_DFL);  // by which it is asked, also where all began under nohup
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        _exit(exit_start_up);
    // dup2 onto itself would leave close-on-exec set.
    if (report_fd == PeerChild::report_fd ? fcntl(report_fd, F_SETFD, 0) < 0
                                          : dup2(report_fd, PeerChild::report_fd) < 0)
        _exit(exit_start_up);
    execvp(words[0], words);
    perror(words[0]);
    _exit(not_found);
}

/// What is read from one descriptor goes to the other as it is. Once the other takes no more, it
/// is read and dropped: a peer must not wait for somebody who has gone.
class Passage {
  public:
    Passage(int from, int to) : from_(from), to_(to) {}

    /// False at the end of what is read.
    bool pass() {
        std::array<char, 65'536> bytes;
        const ssize_t count = read(from_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) return true;
        if (count <= 0) return false;
        for (ssize_t at = 0; at < count && to_ >= 0;) {
            const ssize_t written =
                write(to_, bytes.data() + at, static_cast<std::size_t>(count - at));
            if (written > 0) at += written;
            if (written < 0 && errno != EINTR) to_ = -1;
        }
        return true;
    }

  private:
    const int from_;
    int to_;
};

/// Who asks the peer to stop: lines on standard input, the end of that, signals to this process.
class Requests {
  public:
    explicit Requests(pid_t peer) : peer_(peer) {}

    /// Lines; false at their end.
    bool take_input() {
        std::array<char, 256> bytes;
        const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) return true;
        if (count <= 0) {
            if (lines_ == 0) stop();
            return false;
        }
        for (ssize_t k = 0; k < count; ++k) {
            if (bytes[static_cast<std::size_t>(k)] != '\n') continue;
            if (lines_++ == 0)
                stop();
            else
                kill(peer_, SIGKILL);
        }
        return true;
    }

    void take_signal(int signal_fd) {
        signalfd_siginfo info{};
        if (read(signal_fd, &info, sizeof info) == sizeof info && !stops_at_)
            stops_at_ = std::chrono::steady_clock::now() + direct_signal;
    }
    /// Milliseconds until `look` has something to do; -1: never.
    int patience_ms() const {
        if (!stops_at_) return -1;
        const auto left = *stops_at_ - std::chrono::steady_clock::now();
        return std::max(
            0, static_cast<int>(
                   std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1));
    }
    void look() {
        if (!stops_at_ || std::chrono::steady_clock::now() < *stops_at_) return;
        stop();
        stops_at_ = SteadyTime::max();  // once
    }

  private:
    /// By the one signal that counts only where it is the first: SIGHUP, as src/system/interrupts.h
    /// has it.
    void stop() { kill(peer_, SIGHUP); }

    const pid_t peer_;
    int lines_ = 0;
    std::optional<SteadyTime> stops_at_;  ///< after a signal
};

int status_of(pid_t peer) {
    int status = 0;
    while (waitpid(peer, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? shell_signal_offset + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Until the peer has ended and all that it reported has been passed on.
int serve(pid_t peer, int ended_fd, int report_fd, int signal_fd) {
    Requests requests(peer);
    Passage report(report_fd, STDOUT_FILENO);
    std::array<pollfd, 4> watched = {pollfd{STDIN_FILENO, POLLIN, 0},
                                     {report_fd, POLLIN, 0},
                                     {ended_fd, POLLIN, 0},
                                     {signal_fd, POLLIN, 0}};
    while (watched[2].revents == 0) {
        if (poll(watched.data(), watched.size(), requests.patience_ms()) < 0) continue;
        if (watched[0].revents != 0 && !requests.take_input()) watched[0].fd = -1;
        if (watched[1].revents != 0 && !report.pass()) watched[1].fd = -1;
        if (watched[3].revents != 0) requests.take_signal(signal_fd);
        requests.look();
    }
    // Children of its own may hold the pipe open: only what is there already.
    while (watched[1].fd >= 0 && poll(&watched[1], 1, 0) > 0 && report.pass()) {
    }
    return status_of(peer);
}

}  // namespace

int attend(const std::vector<std::string>& words) {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> report{};
    const int signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    if (signal_fd < 0 || pipe2(report.data(), O_CLOEXEC) != 0) return exit_start_up;
    std::vector<std::string> copies = words;
    std::vector<char*> pointers;
    for (std::string& word : copies) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t attendant = getpid();
    const pid_t peer = fork();
    if (peer == 0) become_attended(pointers.data(), report[1], attendant);
    close(report[1]);
    const int ended_fd = peer < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, peer, 0));
    if (ended_fd < 0) {
        std::perror("ako attend");
        if (peer > 0) kill(peer, SIGKILL);
        return exit_start_up;
    }
    return serve(peer, ended_fd, report[0], signal_fd);
}

std::vector<std::string> attendant_words(const std::string& ako) { return {ako, "attend", "--"}; }

}  // namespace ako
