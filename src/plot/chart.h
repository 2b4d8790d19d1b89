// A chart: a plot with a name, as a file of its own and as a figure of a page. One thread.
#pragma once

#include <string>

#include "src/plot/svg_plot.h"

namespace ako {

struct Chart {
    std::string name;  ///< of its file and its id
    SvgPlot plot;
};

/// Draws it into `folder`/<name>.svg, and returns the figure (html.h). Where lines have symbols the
/// figure names them below the drawing, in text that a narrow page breaks into lines. Throws as
/// draw_plot does.
std::string draw_chart(const Chart& chart, const std::string& folder);

}  // namespace ako
