// The screen of a run: a pure function from its state and a size to lines of text.
//
//   title, progress bar
//   one row per peer
//   the plots of loss and test accuracy, or the table of links, or the help
//   the newest log lines
//   the keys
//
// The peers matter most: the plots and then the log give way where otherwise some peer would not be
// seen, and a plot is drawn beside some peers only where not all have room without it either. A
// line of the log has as many rows as it needs. Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/screen/run_state.h"

namespace ako {

/// What the terminal can show.
struct ScreenStyle {
    std::size_t columns = 80;
    std::size_t rows = 24;
    bool unicode = true;  ///< else ASCII only
    bool colours = true;
};

/// What people asked to see.
struct ScreenChoice {
    enum class Middle { plots, links, rates, help };
    Middle middle = Middle::plots;
    std::size_t first_peer = 0;    ///< of the rows, where not all fit
    std::size_t first_column = 0;  ///< of the table of links
};

/// Exactly style.rows lines of at most style.columns columns.
std::vector<std::string> run_screen(const RunState& state, const ScreenChoice& choice,
                                    const ScreenStyle& style);

/// What stays on the terminal when the run is over: all peers and the plots, whatever rows it
/// takes.
std::vector<std::string> closing_screen(const RunState& state, const ScreenStyle& style);

/// "0:12  c  peer b is lost: .. (a, d: the same)": a log line as people read it.
std::string log_text(const LogEntry& entry, std::size_t name_width);

}  // namespace ako
