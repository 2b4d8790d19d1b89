// The thread that shows a run to people under `ako train`. It has the state of the run and the
// view, so neither the thread that computes nor the one of the network ever waits for a terminal.
// What it is told goes through an inbox with a limit: of metrics lines it keeps the newest, of log
// lines the newest so many, which is all that a view shows.
//
// Made, closed and destroyed on one thread; the rest from any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "ako/clock.h"
#include "src/results/metrics_line.h"
#include "src/screen/run_state.h"
#include "src/screen/run_view.h"

namespace ako {

class ViewThread {
  public:
    /// `state` is that of one peer's lines, of the peer `self`. `make_view` is called on the
    /// thread, and so is `end`: when somebody asks, by a key, that the run ends; once.
    ViewThread(RunState state, std::size_t self,
               std::function<std::unique_ptr<RunView>()> make_view, std::function<void()> end);
    /// Without a last picture, unless it has been closed: the terminal is as it was.
    ~ViewThread();
    ViewThread(const ViewThread&) = delete;
    ViewThread& operator=(const ViewThread&) = delete;

    /// Never waits.
    void take_line(MetricsLine line);
    /// Never waits.
    void take_log(std::string text);
    /// The run is over: has the state completed by `last` and the view closed, and waits for both.
    /// A terminal that takes nothing (Ctrl-S) is waited for until it does.
    void close(std::function<void(RunState&)> last);

  private:
    struct Inbox {
        std::optional<MetricsLine> line;
        std::deque<LogEntry> log;
    };

    double seconds() const;
    void run();
    /// Until something comes, or the next second.
    void wait(const RunView& view, int signals_fd);
    /// True if there was a metrics line.
    bool take_inbox(RunView& view);
    void wake() const;
    void end_thread(std::function<void(RunState&)> last);

    const SteadyClock clock_;
    const Time began_ = clock_.now();
    const std::size_t self_;
    const std::string name_;
    const std::function<std::unique_ptr<RunView>()> make_view_;
    const std::function<void()> end_;
    const int wake_fd_;  ///< -1: it looks once a second

    // Used by the thread alone.
    RunState state_;
    bool input_ready_ = false;
    bool input_gone_ = false;  ///< nobody can press keys any more

    std::mutex mutex_;
    // Protected by mutex_.
    Inbox inbox_;
    bool ending_ = false;
    std::function<void(RunState&)> last_;  ///< null: no last picture

    std::thread thread_;
};

}  // namespace ako
