#include "src/launch/peer_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "ako/error.h"

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
    if (!command.program.empty()) {
        words.insert(words.end(), command.program.begin(), command.program.end());
        return words;
    }
    // Where another command starts it, "self" is that command.
    words.push_back(command.in.empty() ? own_name
                                       : std::filesystem::read_symlink(this_program).string());
    words.emplace_back("train");
    words.insert(words.end(), command.arguments.begin(), command.arguments.end());
    words.insert(words.end(), {"--report-fd", fmt::to_string(PeerChild::report_fd)});
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

/// In the child, between fork and exec: nothing but calls that are safe there.
[[noreturn]] void become_peer(const char* program, char* const* arguments, char* const* environment,
                              int log_fd, int metrics_fd, pid_t launcher) {
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
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(log_fd, STDOUT_FILENO) < 0 ||
        dup2(log_fd, STDERR_FILENO) < 0)
        _exit(1);
    // dup2 onto itself would leave close-on-exec set.
    if (metrics_fd == report_fd ? fcntl(report_fd, F_SETFD, 0) < 0
                                : dup2(metrics_fd, report_fd) < 0)
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

struct PeerChild::Pipes {
    std::array<int, 2> log;
    std::array<int, 2> report;

    static Pipes open() {
        Pipes pipes{};
        if (pipe2(pipes.log.data(), O_CLOEXEC) != 0 || pipe2(pipes.report.data(), O_CLOEXEC) != 0)
            refuse_start("pipe");
        return pipes;
    }
};

PeerChild::PeerChild(const std::string& name, const PeerCommand& command)
    : PeerChild(name, command, Pipes::open()) {}

PeerChild::PeerChild(const std::string& name, const PeerCommand& command, Pipes pipes)
    : name_(name), log_(pipes.log[0]), report_(pipes.report[0]) {
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
        become_peer(program.c_str(), arguments.data(), variables.data(), pipes.log[1],
                    pipes.report[1], launcher);
    close(pipes.log[1]);
    close(pipes.report[1]);
    if (pid_ < 0) refuse_start("fork");
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

void PeerChild::signal(int number) const {
    if (!wait_status_) kill(pid_, number);
}

bool PeerChild::ended() {
    if (wait_status_) return true;
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) wait_status_ = status;
    return wait_status_.has_value();
}

int PeerChild::exit() const {
    const int status = wait_status_.value_or(0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace ako
