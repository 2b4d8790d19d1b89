// A plot: lines with bands, drawn by gnuplot as SVG. One thread.
#pragma once

#include <string>
#include <vector>

namespace ako {

struct SvgPoint {
    double x = 0;
    double y = 0;    ///< not finite: the line is broken here
    double low = 0;  ///< of the band
    double high = 0;
};

struct SvgLine {
    std::string label;
    std::size_t number = 0;  ///< decides its style (line_style.h): the same in every plot
    bool dashed = false;
    std::vector<SvgPoint> points;
};

enum class Axis { linear, logarithmic };

struct SvgPlot {
    std::string title;
    std::string x_label;
    std::string y_label;
    Axis x_axis = Axis::linear;
    /// y is an accuracy, 0 .. 1, drawn by its distance from 1, so that 98 and 99 % are as far apart
    /// as 96 and 98.
    bool accuracy = false;
    Axis y_axis = Axis::linear;           ///< without `accuracy`
    std::vector<double> marks;            ///< horizontal lines: the targets
    std::vector<std::string> x_names;     ///< instead of numbers: of x = 0, 1, ..
    bool points_only_with_range = false;  ///< whiskers instead of bands
    /// No bands: every line has its symbol and its dashes, and so can be told from many others and
    /// without colours.
    bool symbols = false;
    bool key = true;  ///< names of the lines, below
    // The size of the drawing, which a page scales: text is larger in a small one.
    unsigned width = 600;
    unsigned height = 400;
    std::vector<SvgLine> lines;
};

/// Throws a StartupError with the remedy if there is no gnuplot.
void require_gnuplot();

/// Draws it into `file` (SVG on white). Throws a StartupError with gnuplot's words if it fails.
void draw_plot(const SvgPlot& plot, const std::string& file);

/// The SVG for use inside an HTML page: no head, ids of its own, colours as the page's variables
/// --ink, --faint, --series-0, ..
std::string inline_svg(const std::string& file, const std::string& id);

}  // namespace ako
