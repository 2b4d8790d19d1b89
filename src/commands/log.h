// The log: one line per event. Notices are for people and go to standard error as well; details
// (sessions up and down, attempts that failed) are kept in log-<peer>.txt only. Any thread, once
// keep_in() has been called. Data for programs goes to the metrics and the results instead.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace ako {

/// How notices are set: for a terminal or a file of their own, or for `ako launch`, which adds
/// time and name to the lines of all its peers.
enum class LogStyle { with_time_and_name, bare };

class Log {
  public:
    /// `name` is the peer's.
    Log(const std::string& name, LogStyle style);

    /// From now on every line goes to this file, too. Before other threads write.
    void keep_in(const std::string& path);

    std::function<void(const std::string&)> notice() const;
    std::function<void(const std::string&)> detail() const;

  private:
    std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace ako
