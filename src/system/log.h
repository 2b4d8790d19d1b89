// The log: one line per event. Notices are for people and go to standard error as well; details
// (sessions up and down, attempts that failed) are kept in log-<peer>.txt only. What others wrote
// is made safe to show. Any thread, once keep_in() has been called; none waits for a terminal. Data
// for programs goes to the metrics and the results instead.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace ako {

class Console;

/// How notices are set: for a terminal or a file of their own, or for `ako launch`, which adds
/// time and name to the lines of all its peers.
enum class LogStyle { with_time_and_name, bare };

class Log {
  public:
    /// `name` is the peer's. The console must outlive the last line.
    Log(const std::string& name, LogStyle style, Console& console);

    /// From now on every line goes to this file, too, as long as the disk takes them: that it does
    /// not is said once. Before other threads write. Throws StartupError.
    void keep_in(const std::string& path);
    /// From now on notices go here instead of to the console, without their line ends; with
    /// nothing, to the console again. Any thread; `shown` is called by whoever says something, one
    /// at a time.
    void show_in(std::function<void(const std::string&)> shown);

    std::function<void(const std::string&)> notice() const;
    std::function<void(const std::string&)> detail() const;

  private:
    class ConsoleSink;

    std::shared_ptr<ConsoleSink> sink_;
    std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace ako
