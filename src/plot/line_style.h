// The style of a line in plots and pages, by its number: a colour, and where lines must be told
// apart without it also a symbol and dashes. The first 8 numbers differ in colour, the first 15 in
// their symbol, and the first 480, more than there can be peers, in one of the three. Pure
// functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ako {

/// "#rrggbb".
std::string series_colour(std::size_t number);
/// There are so many; more numbers take them again.
std::size_t series_colours();

/// As gnuplot counts its symbols, from 1.
unsigned series_symbol(std::size_t number);

/// Lengths of dash and gap in turn, for a line of width 2; nothing: the line is not broken.
std::vector<unsigned> series_dashes(std::size_t number);

}  // namespace ako
