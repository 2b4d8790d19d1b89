// A run as `ako launch` shows it: its state and the view that people have of it, which is brought
// up to date once a second and with every line that is said. Knows no processes and has no clock:
// `seconds` are since the run began. One thread. The console must outlive it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "src/screen/run_state.h"
#include "src/screen/run_view.h"
#include "src/system/console.h"

namespace ako {

class ShownRun {
  public:
    /// `live`: on a terminal that can be drawn on, else as rows of text.
    ShownRun(Console& console, bool live, RunState state,
             const std::vector<std::string>& peer_names);

    RunState& state() { return state_; }
    const RunState& state() const { return state_; }
    const PeerState& peer(std::size_t peer) const { return state_.peers()[peer]; }

    /// What `name` says, whatever characters are in it.
    void log(double seconds, const std::string& name, const std::string& text);
    /// Once a second; does nothing before next_second().
    void show(double seconds);
    /// When people are shown the state again.
    double next_second() const { return next_second_; }
    /// The peers have ended, and this is how the run stands: the view's last picture.
    void close(double seconds);

    /// What the terminal asks for, as in RunView.
    int input_fd() const { return view_->input_fd(); }
    bool take_input() { return view_->take_input(state_); }
    void suspend() { view_->suspend(state_); }
    void resized() { view_->resized(state_); }

  private:
    RunState state_;
    const std::unique_ptr<RunView> view_;
    double next_second_ = 0;
};

}  // namespace ako
