#include "src/launch/peer_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include "ako/ending.h"
#include "ako/error.h"
#include "src/launch/attendant.h"
#include "src/system/child_process.h"

namespace ako {

namespace {

constexpr const char* this_program = "/proc/self/exe";
constexpr const char* own_name = "ako";
/// A line longer than this is shown in pieces; metrics lines of 64 links have 22 kB.
constexpr std::size_t line_bytes_max = 1 << 20;

[[noreturn]] void refuse_start(const char* what) {
    throw StartupError(fmt::format("a peer's process cannot be started: {}: {}", what,
                                   std::generic_category().message(errno)),
                       "is a limit on processes or open files reached (ulimit -a)?");
}

/// What is executed: first the words of `in`, if there are any, then the program and its own.
std::vector<std::string> command_line(const PeerCommand& command) {
    std::vector<std::string> words = command.in;
    const auto add = [&words](const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
    };
    // Where another command starts it, "self" is that command.
    const std::string itself = command.in.empty() ? own_name : own_program();
    if (command.elsewhere) add(attendant_words(itself));
    add(command.program);
    if (!command.program.empty()) return words;
    add({itself, "train"});
    add(command.arguments);
    add({"--report-fd", fmt::to_string(PeerChild::report_fd)});
    return words;
}

/// The environment of this process and what the command adds, as "NAME=value". Before any thread is
/// started; nothing here ever sets the environment.
std::vector<std::string> environment_for(const PeerCommand& command) {
    std::vector<std::string> all;
    const auto is_added = [&command](std::string_view entry) {
        return std::any_of(command.environment.begin(), command.environment.end(),
                           [entry](const auto& it) { return entry.starts_with(it.first + "="); });
    };
    for (char** entry = environ; *entry != nullptr; ++entry) {
        if (!is_added(*entry)) all.emplace_back(*entry);
    }
    for (const auto& [name, value] : command.environment)
        all.push_back(fmt::format("{}={}", name, value));
    return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// The descriptors of a child's streams; -1: it has none of that kind.
struct Streams {
    int input;
    int output;
    int error;
    int report;
};

/// In the child, between fork and exec: nothing but calls that are safe there.
[[noreturn]] void become_peer(const char* program, char* const* arguments, char* const* environment,
                              Streams streams, pid_t launcher) {
    constexpr int report_fd = PeerChild::report_fd;
    // When launch dies, however that is, the run is to end as by Ctrl-C, and not this peer alone.
    // If launch died before this call, nobody would ask any more.
    prctl(PR_SET_PDEATHSIG, SIGINT);
    if (getppid() != launcher) _exit(1);
    // Its own process group: the terminal's Ctrl-C goes to launch alone, which passes it on once.
    setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    if (streams.input < 0) streams.input = open("/dev/null", O_RDONLY);
    if (streams.input < 0 || dup2(streams.input, STDIN_FILENO) < 0 ||
        dup2(streams.output, STDOUT_FILENO) < 0 || dup2(streams.error, STDERR_FILENO) < 0)
        _exit(1);
    // dup2 onto itself would leave close-on-exec set.
    if (streams.report >= 0 && (streams.report == report_fd ? fcntl(report_fd, F_SETFD, 0) < 0
                                                            : dup2(streams.report, report_fd) < 0))
        _exit(1);
    execvpe(program, arguments, environment);
    perror(program);
    _exit(127);
}

}  // namespace

LinePipe::LinePipe(int fd) : fd_(fd) { fcntl(fd_, F_SETFL, O_NONBLOCK); }

LinePipe::~LinePipe() {
    if (fd_ >= 0) close(fd_);
}

LinePipe::LinePipe(LinePipe&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), rest_(std::move(other.rest_)) {}

std::vector<std::string> LinePipe::read_lines() {
    std::vector<std::string> lines;
    std::array<char, 16384> buffer;
    while (fd_ >= 0) {
        const ssize_t count = read(fd_, buffer.data(), buffer.size());
        if (count < 0) {
            if (errno == EINTR) continue;
            break;
        }
        if (count == 0) {
            close(std::exchange(fd_, -1));
            if (!rest_.empty()) lines.push_back(std::exchange(rest_, ""));
            break;
        }
        for (ssize_t i = 0; i < count; ++i) {
            const char letter = buffer[static_cast<std::size_t>(i)];
            if (letter != '\n') rest_ += letter;
            if (letter == '\n' || rest_.size() >= line_bytes_max)
                lines.push_back(std::exchange(rest_, ""));
        }
    }
    return lines;
}

class PeerChild::Pipes {
  public:
    explicit Pipes(bool elsewhere) : elsewhere_(elsewhere) {
        if (pipe2(log_.data(), O_CLOEXEC) != 0 || pipe2(report_.data(), O_CLOEXEC) != 0)
            refuse_start("pipe");
        // Not a pipe: to write into one that nobody reads any more is deadly.
        if (elsewhere && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, requests_.data()) != 0)
            refuse_start("socketpair");
    }

    int log() const { return log_[0]; }
    int report() const { return report_[0]; }
    int requests() const { return requests_[1]; }

    Streams of_child() const {
        if (elsewhere_) return {requests_[0], report_[1], log_[1], -1};
        return {-1, log_[1], log_[1], report_[1]};
    }
    void close_ends_of_child() const {
        close(log_[1]);
        close(report_[1]);
        if (elsewhere_) close(requests_[0]);
    }

  private:
    const bool elsewhere_;
    std::array<int, 2> log_{-1, -1};
    std::array<int, 2> report_{-1, -1};
    std::array<int, 2> requests_{-1, -1};
};

PeerChild::PeerChild(const std::string& name, const PeerCommand& command)
    : PeerChild(name, command, Pipes(command.elsewhere)) {}

PeerChild::PeerChild(const std::string& name, const PeerCommand& command, const Pipes& pipes)
    : name_(name),
      elsewhere_(command.elsewhere),
      log_(pipes.log()),
      report_(pipes.report()),
      requests_(pipes.requests()) {
    std::vector<std::string> words = command_line(command);
    std::vector<std::string> environment = environment_for(command);
    // A peer started directly runs what launch runs, even if the file has been replaced since.
    const bool itself = command.in.empty() && command.program.empty();
    const std::string program = itself ? this_program : words.front();
    const std::vector<char*> arguments = pointers_to(words);
    const std::vector<char*> variables = pointers_to(environment);

    const pid_t launcher = getpid();
    pid_ = fork();
    if (pid_ == 0)
        become_peer(program.c_str(), arguments.data(), variables.data(), pipes.of_child(),
                    launcher);
    pipes.close_ends_of_child();
    if (pid_ < 0) refuse_start("fork");
}

PeerChild::~PeerChild() {
    if (requests_ >= 0) close(requests_);
}

std::vector<MetricsLine> PeerChild::read_report() {
    std::vector<MetricsLine> lines;
    for (const std::string& text : report_.read_lines()) {
        if (auto line = parse_metrics_line(text))
            lines.push_back(std::move(*line));
        else if (auto result = parse_result_line(text))
            result_ = std::move(result);
    }
    return lines;
}

void PeerChild::stop() const {
    if (elsewhere_) return request();
    if (!wait_status_) kill(pid_, SIGINT);
}

void PeerChild::end() const {
    if (!elsewhere_) return abandon();
    // The first asks it to stop, the second ends it; more do no harm. Where nobody reads them, this
    // end of the way there is ended.
    request();
    request();
    if (!wait_status_) kill(pid_, SIGTERM);
}

void PeerChild::abandon() const {
    if (!wait_status_) kill(pid_, SIGKILL);
}

void PeerChild::request() const {
    constexpr char line = '\n';
    // Where nobody reads it any more the process has ended, or soon will.
    if (!wait_status_) send(requests_, &line, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool PeerChild::ended() {
    if (wait_status_) return true;
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) wait_status_ = status;
    return wait_status_.has_value();
}

int PeerChild::exit() const {
    const int status = wait_status_.value_or(0);
    if (WIFSIGNALED(status)) return -WTERMSIG(status);
    const int code = WEXITSTATUS(status);
    // As a shell tells of signals; but a peer that was interrupted, or left, says so itself.
    const bool of_peer = code == exit_interrupted || code == exit_left;
    return elsewhere_ && code > shell_signal_offset && !of_peer ? shell_signal_offset - code : code;
}

}  // namespace ako
