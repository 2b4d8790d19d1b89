#include "src/system/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "ako/error.h"

namespace ako {

namespace {

[[noreturn]] void refuse_start(const std::string& program, const char* what) {
    throw StartupError(fmt::format("{} cannot be started: {}: {}", program, what,
                                   std::generic_category().message(errno)),
                       "is a limit on processes or open files reached (ulimit -a)?");
}

/// In the child, between fork and exec: nothing but calls that are safe there.
[[noreturn]] void become(char* const* words, int output_fd, int error_fd, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    signal(SIGPIPE, SIG_DFL);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(output_fd, STDOUT_FILENO) < 0 ||
        dup2(error_fd, STDERR_FILENO) < 0)
        _exit(1);
    execvp(words[0], words);
    _exit(ChildProcess::exit_not_found);
}

struct Closes {
    const int fd;
    ~Closes() {
        if (fd >= 0) close(fd);
    }
};

int open_to_append(const std::string& file) {
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        throw StartupError(
            fmt::format("{}: cannot be written: {}", file, std::generic_category().message(errno)));
    return fd;
}

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

std::string own_program() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

ChildProcess::ChildProcess(const std::vector<std::string>& words, const std::string& output_file,
                           const std::string& error_file) {
    std::vector<std::string> copies = words;
    std::vector<char*> pointers;
    pointers.reserve(copies.size() + 1);
    for (std::string& word : copies) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const Closes output{open_to_append(output_file)};
    const Closes errors{open_to_append(error_file.empty() ? output_file : error_file)};
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) become(pointers.data(), output.fd, errors.fd, parent);
    if (pid_ < 0) refuse_start(words.front(), "fork");
    ended_fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    if (ended_fd_ < 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        refuse_start(words.front(), "pidfd_open");
    }
    fcntl(ended_fd_, F_SETFD, FD_CLOEXEC);
}

ChildProcess::~ChildProcess() {
    if (!wait_status_) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(ended_fd_);
}

bool ChildProcess::wait(double seconds) {
    if (wait_status_) return true;
    pollfd watched{ended_fd_, POLLIN, 0};
    poll(&watched, 1, static_cast<int>(std::max(0.0, seconds) * 1e3) + 1);
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) wait_status_ = status;
    return wait_status_.has_value();
}

void ChildProcess::signal(int number) const {
    if (!wait_status_) kill(pid_, number);
}

int ChildProcess::exit() const {
    const int status = wait_status_.value_or(0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

namespace {

/// In memory: there may be no folder for temporary files, or no room in it.
class MemoryFile {
  public:
    explicit MemoryFile(const std::string& for_whom)
        : file_{memfd_create("ako-output", MFD_CLOEXEC)} {
        if (file_.fd < 0) refuse_start(for_whom, "memfd_create");
    }
    std::string path() const { return fmt::format("/proc/self/fd/{}", file_.fd); }
    std::string text() const {
        std::ostringstream text;
        text << std::ifstream(path(), std::ios::binary).rdbuf();
        return text.str();
    }

  private:
    const Closes file_;
};

int run_to_end(ChildProcess& child, double seconds) {
    const double until = seconds_now() + seconds;
    while (!child.wait(until - seconds_now())) {
        if (seconds_now() < until) continue;
        child.signal(SIGKILL);
        child.wait(1);
    }
    return child.exit();
}

}  // namespace

CommandOutput run_command(const std::vector<std::string>& words, double seconds) {
    const MemoryFile all(words.front());
    ChildProcess child(words, all.path());
    const int exit = run_to_end(child, seconds);
    return {exit, all.text(), ""};
}

CommandOutput run_command_apart(const std::vector<std::string>& words, double seconds) {
    const MemoryFile output(words.front()), errors(words.front());
    ChildProcess child(words, output.path(), errors.path());
    const int exit = run_to_end(child, seconds);
    return {exit, output.text(), errors.text()};
}

}  // namespace ako
