#include "src/plot/chart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/plot/html.h"
#include "src/plot/line_style.h"

namespace ako {

namespace {

/// A piece of a line with its symbol, which is one of those that the drawing beside it defines.
std::string line_sample(std::size_t number, const std::string& id) {
    const std::string colour = fmt::format("var(--series-{})", number % series_colours());
    return fmt::format(
        "<svg viewBox=\"0 0 32 12\" fill=\"none\" aria-hidden=\"true\">"
        "<path d=\"M0 6H32\" stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"{}\"/>"
        "<use href=\"#{}-gpPt{}\" transform=\"translate(16 6) scale(3.5)\" color=\"{}\"/></svg>",
        colour, fmt::join(series_dashes(number), " "), id, series_symbol(number) - 1, colour);
}

std::string names_of_lines(const Chart& chart) {
    std::string text = "<figcaption class=\"key\">";
    for (const SvgLine& line : chart.plot.lines) {
        if (line.points.empty()) continue;
        text += fmt::format("<span>{}{}</span> ", line_sample(line.number, chart.name),
                            html_text(line.label));
    }
    return text + "</figcaption>";
}

}  // namespace

std::string draw_chart(const Chart& chart, const std::string& folder) {
    const std::string file = fmt::format("{}/{}.svg", folder, chart.name);
    const bool key_below = chart.plot.symbols && chart.plot.key;
    SvgPlot plot = chart.plot;
    plot.key = chart.plot.key && !key_below;
    draw_plot(plot, file);
    const std::string drawing =
        fmt::format("<div role=\"img\" aria-label=\"{}\">{}</div>", html_text(plot.title),
                    inline_svg(file, chart.name));
    if (key_below) draw_plot(chart.plot, file);  // the file stands alone
    return fmt::format("<figure>{}{}</figure>\n", drawing, key_below ? names_of_lines(chart) : "");
}

}  // namespace ako
