// How far a comparison is, as one line that is drawn over itself on a terminal; in a pipe, a line
// when a cell begins and one when it has ended. One thread.
#pragma once

#include <string>

#include "src/compare/agenda.h"

namespace ako {

/// The line: "12 of 48 [=====>      ]  ako, .., seed 2  1:05  left about 1:12:00", at most so wide.
std::string progress_text(std::size_t done, const Forecast& left, const std::string& cell,
                          double cell_seconds, std::size_t columns, bool unicode);

class ProgressLine {
  public:
    /// `columns` 0: no terminal.
    ProgressLine(std::size_t columns, bool unicode) : columns_(columns), unicode_(unicode) {}

    /// A cell begins; `left` counts it.
    void begin(const Cell& cell, std::size_t done, const Forecast& left);
    /// The same cell, so many seconds later.
    void update(double cell_seconds);
    /// `pair`: what is said beside it of what was predicted, a line; may be empty.
    void end(const CellResult& result, const std::string& pair);
    /// Takes the line away, before other text is printed.
    void clear() const;

  private:
    const std::size_t columns_;
    const bool unicode_;
    std::string cell_;
    std::size_t done_ = 0;
    Forecast left_;
};

}  // namespace ako
