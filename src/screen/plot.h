// A plot of one figure over the run in characters: braille dots, eight to a character, or in ASCII
// two ("'" above, "." below, ":" both). Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/screen/history.h"
#include "src/screen/screen_line.h"

namespace ako {

struct PlotStyle {
    std::size_t columns = 40;  ///< of all, axis and labels included
    std::size_t rows = 8;      ///< likewise; at least plot_rows_min
    bool unicode = true;
    Paint paint = Paint::plain;  ///< of the curve
};
/// A title, three rows of dots and the labels of the x axis.
inline constexpr std::size_t plot_rows_min = 5;

struct PlotTexts {
    std::string title;
    std::string newest;      ///< the newest value, beside the title
    bool percent = false;    ///< y is 0 .. 1 and labelled as 0 .. 100
    bool log_scale = false;  ///< if the values span at least a factor of ten
    double x_end = 1;        ///< what the right end, x = 1, is labelled as
};

/// Exactly style.rows lines of at most style.columns.
std::vector<ScreenLine> plot(const std::vector<PlotPoint>& points, const PlotTexts& texts,
                             const PlotStyle& style);

}  // namespace ako
