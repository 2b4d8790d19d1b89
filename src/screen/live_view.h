// The live view: the run as a screen that is drawn anew every second and at every key. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/screen/run_screen.h"
#include "src/screen/run_view.h"
#include "src/screen/terminal.h"
#include "src/system/console.h"

namespace ako {

class LiveView final : public RunView {
  public:
    /// The console must outlive it.
    LiveView(Console& console, const std::vector<std::string>& peer_names);

    void show_log(const LogEntry& entry) override;
    void show_second(const RunState& state) override;
    /// Leaves the screen and prints what should stay: all log lines, and the last screen's tables.
    void close(const RunState& state) override;

    bool is_screen() const override { return true; }
    int input_fd() const override { return terminal_.keys_fd(); }
    bool take_input(const RunState& state) override;
    void resized(const RunState& state) override { draw(state); }
    void suspend(const RunState& state) override;

  private:
    void draw(const RunState& state);
    void move(Key key, const RunState& state);
    void print_log(const LogEntry& entry);

    Console& console_;
    Terminal terminal_;
    ScreenChoice choice_;
    const std::size_t name_width_;
    const bool log_elsewhere_;  ///< standard error is no terminal: log lines go there as they come
};

}  // namespace ako
