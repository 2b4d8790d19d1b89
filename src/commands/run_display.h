// The display of a run: a table with a row per second and peer, the peers' log lines between its
// rows and, where standard output is a terminal, a progress bar below. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/commands/metrics_line.h"

namespace ako {

class RunDisplay {
  public:
    /// `run` is the run's name, shown beside the bar.
    RunDisplay(const std::vector<std::string>& peer_names, std::string run);
    /// Takes the bar away.
    ~RunDisplay();
    RunDisplay(const RunDisplay&) = delete;
    RunDisplay& operator=(const RunDisplay&) = delete;

    /// One row; `seconds` since the run began.
    void show_row(double seconds, const std::string& name, const MetricsLine& line);
    /// A row of a peer that makes no rounds now: `round` is its last, `what` what it does instead.
    void show_state(double seconds, const std::string& name, std::uint64_t round,
                    const std::string& what);
    /// A line of a peer's log.
    void show_log(double seconds, const std::string& name, const std::string& text);
    /// Draws the bar anew. `progress` is 0 .. 1 of the whole run.
    void show_progress(double seconds, double progress, const std::string& phase);
    /// Takes the bar away, for text of others.
    void clear_bar();

    bool terminal() const { return terminal_; }
    /// `text` in bold where standard output is a terminal.
    std::string bold(const std::string& text) const;

  private:
    void write_row(const std::string& row);
    std::optional<double> seconds_left(double seconds, double progress);

    // Constant after construction.
    const std::size_t name_width_;
    const std::string run_;
    const bool terminal_;
    const bool colours_;

    std::size_t rows_since_header_;
    std::string bar_;
    double training_began_ = -1;  ///< when progress was first above 0; and how much it was
    double progress_began_ = 0;
};

}  // namespace ako
