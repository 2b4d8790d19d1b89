// What `ako train` says of its run in a pipe, a file or a journal: a line when the peer begins to
// do something else, and a line every ten seconds; each says how far the run is and how long it
// takes yet. The log has the rest. One thread, which never waits for who reads.
#pragma once

#include <string>

#include "src/screen/run_view.h"
#include "src/system/console.h"

namespace ako {

class ProgressLines final : public RunView {
  public:
    static constexpr double line_distance_s = 10;

    /// Lines begin with the time of day and `name`, as those of the log. The console must outlive
    /// it.
    ProgressLines(Console& console, std::string name);

    /// They are lines of the log already.
    void show_log(const LogEntry&) override {}
    /// `state` must have an own() peer.
    void show_second(const RunState& state) override;
    void close(const RunState&) override {}

  private:
    Console& console_;
    const std::string name_;
    std::string phase_;  ///< of the newest line
    double said_at_ = 0;
};

/// "12 %  epoch 0.48 of 4  1:10 left  round 512  612 samples/s  loss 0.4321  test 97.31 %  ..", or
/// what the peer does instead of training.
std::string progress_text(const RunState& state);

}  // namespace ako
