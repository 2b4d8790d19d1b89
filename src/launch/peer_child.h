// A child: one peer's process under `ako launch`, with the pipes on which its log and its metrics
// come. It ends when launch dies, however that comes about. On another machine it has an attendant
// (attendant.h), whose streams are these pipes. One thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/results/metrics_line.h"
#include "src/results/peer_result.h"

namespace ako {

/// The reading end of a pipe, in whole lines.
class LinePipe {
  public:
    explicit LinePipe(int fd);
    ~LinePipe();
    LinePipe(LinePipe&& other) noexcept;
    LinePipe& operator=(LinePipe&&) = delete;

    /// -1 once the other end is closed and all is read.
    int fd() const { return fd_; }
    /// Whole lines that can be read now, without waiting; at the end also an unfinished one.
    std::vector<std::string> read_lines();

  private:
    int fd_;
    std::string rest_;
};

/// What a peer's process is to run.
struct PeerCommand {
    /// Words before all others: a command that becomes what follows it, as `env` does; or none.
    std::vector<std::string> in;
    /// Those words lead to another machine, which no signal and no pipe but the standard ones
    /// reach.
    bool elsewhere = false;
    /// A program of the user's; or none: this very program as `ako train`, with the arguments.
    std::vector<std::string> program;
    std::vector<std::string> arguments;
    /// Names and values, beside what this process has.
    std::vector<std::pair<std::string, std::string>> environment;
};

class PeerChild {
  public:
    /// The number under which the process finds the pipe for its metrics lines and its result.
    static constexpr int report_fd = 3;

    /// Throws StartupError if the system refuses.
    PeerChild(const std::string& name, const PeerCommand& command);
    ~PeerChild();
    PeerChild(const PeerChild&) = delete;
    PeerChild& operator=(const PeerChild&) = delete;

    const std::string& name() const { return name_; }
    LinePipe& log() { return log_; }
    const LinePipe& report() const { return report_; }

    /// The metrics lines that have come.
    std::vector<MetricsLine> read_report();
    /// What it said it came to, once that has come, whatever it could write.
    const std::optional<PeerResult>& result() const { return result_; }

    /// Asks it to stop together with the others, if it still runs.
    void stop() const;
    /// Ends it at once.
    void end() const;
    /// Ends the process that is here at once, which of one elsewhere is only what leads there.
    void abandon() const;
    /// Has it ended? Looks without waiting.
    bool ended();
    /// After the end: the exit status, or the negative number of the signal that ended it.
    int exit() const;

  private:
    class Pipes;
    PeerChild(const std::string& name, const PeerCommand& command, const Pipes& pipes);
    void request() const;

    const std::string name_;
    const bool elsewhere_;
    LinePipe log_;
    LinePipe report_;
    const int requests_;  ///< lines to the attendant; -1 without one
    pid_t pid_ = -1;
    std::optional<int> wait_status_;
    std::optional<PeerResult> result_;
};

}  // namespace ako
