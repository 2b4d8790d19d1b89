// How a run is shown while it runs: rows of text (run_display.h, progress_lines.h), or a screen
// that is drawn anew (live_view.h). One thread.
#pragma once

#include "src/screen/run_state.h"

namespace ako {

class RunView {
  public:
    virtual ~RunView() = default;

    /// A log line that has come; it is in state.log() as well.
    virtual void show_log(const LogEntry& entry) = 0;
    /// Once a second, with the state refreshed.
    virtual void show_second(const RunState& state) = 0;
    /// The peers have ended: what follows on the terminal is text of others.
    virtual void close(const RunState& state) = 0;

    /// It is drawn on a terminal, whose signals (another size, Ctrl-Z) are for it.
    virtual bool is_screen() const { return false; }
    /// What to watch for input; -1: nothing.
    virtual int input_fd() const { return -1; }
    /// Takes in what is there. True: the run is asked to end.
    virtual bool take_input(const RunState&) { return false; }
    /// The terminal has another size.
    virtual void resized(const RunState&) {}
    /// Gives the terminal back and stops this process, as Ctrl-Z asks, until it is continued.
    virtual void suspend(const RunState&) {}
};

}  // namespace ako
