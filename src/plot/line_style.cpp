#include "src/plot/line_style.h"

#include <array>

namespace ako {

namespace {

// Okabe and Ito's colours, which those who see few colours can tell apart, without the yellow,
// which is lost on white.
constexpr std::array<const char*, 8> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#8c6d00", "#56b4e9", "#6f4e9c", "#5c5c5c"};

/// Filled circle, square, triangles and diamond, the same hollow, then plus, cross, star and
/// pentagons.
constexpr std::array<unsigned, 15> symbols = {7, 5, 9, 11, 13, 6, 4, 8, 10, 12, 1, 2, 3, 15, 14};

}  // namespace

std::string series_colour(std::size_t number) { return colours[number % colours.size()]; }

std::size_t series_colours() { return colours.size(); }

unsigned series_symbol(std::size_t number) { return symbols[number % symbols.size()]; }

std::vector<unsigned> series_dashes(std::size_t number) {
    static const std::array<std::vector<unsigned>, 4> dashes = {
        {{}, {10, 5}, {14, 4, 3, 4}, {3, 4}}};
    return dashes[number / colours.size() % dashes.size()];
}

}  // namespace ako
