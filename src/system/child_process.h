// A child process: a program started with its words, standard input empty, output into a file. It
// has a process group of its own, so that the terminal's Ctrl-C reaches it only through us, and is
// asked to end (SIGTERM) when this process dies. One thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace ako {

/// The path of this program, to start it anew with other words; empty if the system does not tell.
std::string own_program();

class ChildProcess {
  public:
    /// The first word is a path or a name to look for in PATH. What it prints goes to the end of
    /// `output_file`, and errors to that of `error_file`; empty: there, too. Throws StartupError if
    /// the system refuses; a program that is not there exits with `exit_not_found`.
    ChildProcess(const std::vector<std::string>& words, const std::string& output_file,
                 const std::string& error_file = "");
    /// A child that still runs is killed.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Waits until it ends, a signal comes, or so many seconds are over. True: it has ended.
    bool wait(double seconds);
    void signal(int number) const;
    pid_t pid() const { return pid_; }
    /// After the end: the exit status, or the negative number of the signal that ended it.
    int exit() const;

    static constexpr int exit_not_found = 127;

  private:
    pid_t pid_ = -1;
    int ended_fd_ = -1;  ///< readable once it has ended
    std::optional<int> wait_status_;
};

/// A program run to its end.
struct CommandOutput {
    int exit = 0;
    std::string text;    ///< all it printed
    std::string errors;  ///< of it, what went to standard error; where that was asked for
};

/// Runs a program, at most `seconds` (then it is killed, and `exit` is negative).
CommandOutput run_command(const std::vector<std::string>& words, double seconds);
/// The same; `text` is only what went to standard output.
CommandOutput run_command_apart(const std::vector<std::string>& words, double seconds);

}  // namespace ako
