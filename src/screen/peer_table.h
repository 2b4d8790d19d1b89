// The tables of a screen: one row per peer, and one cell per link. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "src/screen/run_state.h"
#include "src/screen/screen_line.h"

namespace ako {

/// A header and `rows_max` rows, from the peer `first` on; the last row says how many are not
/// shown. Where the lines of one peer alone come, its row has its totals, and the rows of the
/// others what it knows of them: rates, P and rounds behind are those of its link with them.
std::vector<ScreenLine> peer_table(const RunState& state, std::size_t first, std::size_t rows_max,
                                   std::size_t columns);

enum class LinkFigures {
    freshness,  ///< P, and rounds by which the receiver is behind
    rates,      ///< Mbit/s, and the age of the oldest block held in seconds
};

/// A title, a header and `rows_max` rows: from every peer (a row) to every other (a column), from
/// the peer `first_row` and `first_column` on.
std::vector<ScreenLine> link_table(const RunState& state, LinkFigures figures,
                                   std::size_t first_row, std::size_t first_column,
                                   std::size_t rows_max, std::size_t columns);

}  // namespace ako
