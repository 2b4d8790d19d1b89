#include "src/plot/svg_plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <regex>
#include <sstream>

#include "ako/error.h"
#include "ako/replace_all.h"
#include "src/plot/line_style.h"
#include "src/system/child_process.h"
#include "src/system/whole_file.h"

namespace ako {

namespace {

constexpr double gnuplot_seconds_max = 60;
// The colours of the frame and its text, and of the grid. No line has one of them, for the page
// puts its own in their place.
constexpr const char* ink = "#1f2328";
constexpr const char* faint = "#d0d7de";

/// Errors of tests that get a tick, in percent.
constexpr std::array<double, 16> error_ticks = {90, 80, 70, 60, 50,  40, 30,  20,
                                                10, 5,  3,  2,  1.5, 1,  0.7, 0.5};

/// Text between double quotes of gnuplot, with nothing that it would take for markup.
std::string gnuplot_text(const std::string& text) {
    std::string safe;
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') safe += '\\';
        if (std::string("_^{}@&~").find(letter) != std::string::npos) safe += "\\\\";
        safe += letter == '\n' ? ' ' : letter;
    }
    return "\"" + safe + "\"";
}

/// A file's name between single quotes of gnuplot.
std::string gnuplot_file(const std::string& file) {
    std::string safe;
    for (const char letter : file) safe += letter == '\'' ? "''" : std::string(1, letter);
    return "'" + safe + "'";
}

struct DataRange {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void take(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    bool empty() const { return low > high; }
};

/// What gnuplot is given as y: for accuracies the error in percent.
double y_of(const SvgPlot& plot, double value) {
    constexpr double least_percent = 0.05;  // a logarithm has no zero
    return plot.accuracy ? std::max(least_percent, (1 - value) * 100) : value;
}

/// Ticks of a logarithmic axis: of every power of ten as many as leave room for their numbers.
std::string log_ticks(double low, double high) {
    constexpr std::size_t ticks_max = 9;
    const std::vector<std::vector<double>> choices = {
        {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}, {1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}};
    std::string text;
    for (const std::vector<double>& choice : choices) {
        std::size_t count = 0;
        text.clear();
        for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
            for (const double factor : choice) {
                const double tick = power * factor;
                if (tick < low || tick > high) continue;
                text += fmt::format("{}\"{:.6g}\" {}", count == 0 ? "" : ", ", tick, tick);
                ++count;
            }
        }
        if (count <= ticks_max) break;
    }
    return "(" + text + ")";
}

std::string accuracy_axis(const DataRange& y) {
    std::string ticks;
    for (const double error : error_ticks)
        ticks += fmt::format("{}\"{:g} %%\" {}", ticks.empty() ? "" : ", ", 100 - error, error);
    // From the worst error to the best, so that up is better; a little room above.
    return fmt::format("set logscale y\nset yrange [{}:{}]\nset ytics ({})\nunset mytics\n",
                       std::min(95.0, y.high * 1.05), y.low / 1.15, ticks);
}

std::string axes(const SvgPlot& plot, const DataRange& x, const DataRange& y) {
    std::string text;
    if (plot.x_axis == Axis::logarithmic)
        text += fmt::format("set logscale x\nset xrange [{}:{}]\nset xtics {}\n", x.low / 1.05,
                            x.high * 1.05, log_ticks(x.low / 1.05, x.high * 1.05));
    else if (plot.x_names.empty())
        text += fmt::format("set xrange [0:{}]\n", x.high > 0 ? x.high * 1.02 : 1);
    if (!plot.x_names.empty()) {
        std::string ticks;
        for (std::size_t k = 0; k < plot.x_names.size(); ++k)
            ticks += fmt::format("{}{} {}", k == 0 ? "" : ", ", gnuplot_text(plot.x_names[k]), k);
        text += fmt::format("set xtics ({})\nset xrange [-0.4:{}]\n", ticks,
                            static_cast<double>(plot.x_names.size()) - 0.6);
    }
    if (plot.accuracy)
        text += accuracy_axis(y);
    else if (plot.y_axis == Axis::logarithmic)
        text += fmt::format("set logscale y\nset yrange [{}:{}]\nset ytics {}\n", y.low / 1.3,
                            y.high * 1.3, log_ticks(y.low / 1.3, y.high * 1.3));
    else if (y.low < 0)
        text += "set yrange [*:*]\n";
    else
        text += y.high > 0 ? "set yrange [0:*]\n" : "set yrange [0:1]\n";
    return text;
}

std::string data_block(const SvgPlot& plot, std::size_t number) {
    std::string text = fmt::format("$line{} << END\n", number);
    for (const SvgPoint& point : plot.lines[number].points) {
        if (std::isfinite(point.y))
            text += fmt::format("{} {} {} {}\n", point.x, y_of(plot, point.y),
                                y_of(plot, point.low), y_of(plot, point.high));
        else
            text += "\n";
    }
    return text + "END\n";
}

/// The line with its symbol at some places, of which two lines seldom share more than the first.
std::string line_with_symbols(const SvgPlot& plot, std::size_t place) {
    constexpr std::size_t places = 5;
    constexpr std::size_t few_lines = 8;
    const SvgLine& line = plot.lines[place];
    const std::size_t points = line.points.size();
    const std::size_t distance = points <= 2 * places ? 1 : points / places + line.number % 4;
    const std::vector<unsigned> dashes = series_dashes(line.number);
    return fmt::format(
        "$line{} using 1:2 with linespoints lw {} dashtype {} pt {} ps 0.6 pointinterval {} "
        "lc rgb '{}' title {}",
        place, plot.lines.size() <= few_lines ? 1.8 : 1.2,
        dashes.empty() ? "1" : fmt::format("({})", fmt::join(dashes, ",")),
        series_symbol(line.number), distance, series_colour(line.number),
        gnuplot_text(line.label));
}

std::string drawings(const SvgPlot& plot) {
    std::string text;
    const auto add = [&text](const std::string& drawing) {
        text += (text.empty() ? "plot " : ", \\\n     ") + drawing;
    };
    for (const double mark : plot.marks)
        add(fmt::format("{} with lines dashtype 3 lw 1 lc rgb '{}' notitle", y_of(plot, mark),
                        ink));
    for (std::size_t k = 0; k < plot.lines.size(); ++k) {
        const bool band = !plot.points_only_with_range && !plot.symbols;
        if (plot.lines[k].points.empty() || !band) continue;
        add(
            fmt::format("$line{} using 1:3:4 with filledcurves fs transparent solid 0.18 noborder "
                        "lc rgb '{}' notitle",
                        k, series_colour(plot.lines[k].number)));
    }
    for (std::size_t k = 0; k < plot.lines.size(); ++k) {
        const SvgLine& line = plot.lines[k];
        if (line.points.empty()) continue;
        if (plot.symbols) {
            add(line_with_symbols(plot, k));
            continue;
        }
        const std::string colour = series_colour(line.number);
        if (plot.points_only_with_range)
            add(
                fmt::format("$line{} using 1:2:3:4 with yerrorbars lw 1.5 pt 7 ps 0.1 lc rgb '{}' "
                            "notitle",
                            k, colour));
        add(fmt::format(
            "$line{} using 1:2 with linespoints lw 2 dashtype {} pt 7 ps 0.4 lc rgb '{}' "
            "title {}",
            k, line.dashed ? "2" : "1", colour, gnuplot_text(line.label)));
    }
    return text;
}

/// Rows of names below the plot. Without symbols there are so few lines that two hold them.
std::size_t key_rows(const SvgPlot& plot) {
    constexpr std::size_t rows_least = 2;
    constexpr std::size_t letter = 8, sample = 50, margins = 60;  // units of the drawing
    if (!plot.symbols) return rows_least;
    std::size_t longest = 0;
    for (const SvgLine& line : plot.lines) longest = std::max(longest, line.label.size());
    const std::size_t room = std::max<std::size_t>(plot.width, margins) - margins;
    const std::size_t columns = std::max<std::size_t>(1, room / (letter * longest + sample));
    return std::max(rows_least, (plot.lines.size() + columns - 1) / columns);
}

/// Size, frame and texts. A key of more rows makes the drawing higher, not the plot lower.
std::string frame(const SvgPlot& plot, const std::string& file) {
    constexpr std::size_t row = 20;
    const std::size_t rows = key_rows(plot);
    const std::string key =
        plot.key ? fmt::format("set key below height 1 maxrows {} samplen 2.5 spacing 1.1 "
                               "textcolor rgb '{}'\n",
                               rows, ink)
                 : "unset key\n";
    return fmt::format(
        "set terminal svg size {},{} dynamic enhanced font 'sans-serif,13' background '#ffffff'\n"
        "set output {}\nset encoding utf8\nset title {} textcolor rgb '{}'\n"
        "set border 3 lc rgb '{}'\nset tics nomirror out scale 0.6 textcolor rgb '{}'\n"
        "set grid lt 1 lw 0.6 lc rgb '{}'\n"
        "set pointintervalbox 0\n{}"
        "set xlabel {} textcolor rgb '{}'\nset ylabel {} textcolor rgb '{}'\n",
        plot.width, plot.height + (plot.key ? (rows - 2) * row : 0), gnuplot_file(file),
        gnuplot_text(plot.title), ink, ink, ink, faint, key, gnuplot_text(plot.x_label), ink,
        gnuplot_text(plot.y_label), ink);
}

std::string script_of(const SvgPlot& plot, const std::string& file) {
    DataRange x, y;
    for (const SvgLine& line : plot.lines) {
        for (const SvgPoint& point : line.points) {
            if (!std::isfinite(point.y)) continue;
            x.take(point.x);
            for (const double value : {point.y, point.low, point.high}) y.take(y_of(plot, value));
        }
    }
    for (const double mark : plot.marks) y.take(y_of(plot, mark));
    std::string text = frame(plot, file);
    if (x.empty())
        return text +
               "unset key\nset label 1 'nothing was reached' at graph 0.4,0.5\n"
               "plot [0:1][0:1] -1 notitle\n";
    text += axes(plot, x, y);
    for (std::size_t k = 0; k < plot.lines.size(); ++k) text += data_block(plot, k);
    return text + drawings(plot) + "\n";
}

/// gnuplot writes a colour as rgb( 31,  35,  40) on lines, and as rgb(31,35,40) on text.
void rename_colour(std::string& svg, const std::string& colour, const std::string& variable) {
    const unsigned value = static_cast<unsigned>(std::stoul(colour.substr(1), nullptr, 16));
    const unsigned red = value >> 16, green = (value >> 8) & 0xff, blue = value & 0xff;
    for (const std::string& written : {fmt::format("rgb({:3}, {:3}, {:3})", red, green, blue),
                                       fmt::format("rgb({},{},{})", red, green, blue)})
        replace_all(svg, written, fmt::format("var({}, {})", variable, colour));
}

}  // namespace

void require_gnuplot() {
    if (run_command({"gnuplot", "--version"}, gnuplot_seconds_max).exit == 0) return;
    throw StartupError("gnuplot, which draws the plots, is not there",
                       "deploy/install-deps installs it; by hand: apt-get install gnuplot-nox");
}

void draw_plot(const SvgPlot& plot, const std::string& file) {
    const std::string script = file + ".gnuplot";
    write_whole_file(script, script_of(plot, file));
    const CommandOutput output = run_command({"gnuplot", script}, gnuplot_seconds_max);
    if (output.exit != 0)
        throw StartupError(fmt::format("gnuplot cannot draw {}: {}", script, output.text));
}

std::string inline_svg(const std::string& file, const std::string& id) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    std::string svg = text.str();
    svg.erase(0, svg.find("<svg"));
    // The page has several of them, and a title would be shown over every one.
    for (const char* name :
         {"gpDot", "gpPt", "textbox", "greybox", "gnuplot_plot_", "gnuplot_canvas"}) {
        replace_all(svg, fmt::format("id='{}", name), fmt::format("id='{}-{}", id, name));
        replace_all(svg, fmt::format("id=\"{}", name), fmt::format("id=\"{}-{}", id, name));
        replace_all(svg, fmt::format("href='#{}", name), fmt::format("href='#{}-{}", id, name));
        replace_all(svg, fmt::format("url(#{}", name), fmt::format("url(#{}-{}", id, name));
    }
    replace_all(svg, "fill=\"#ffffff\"", "fill=\"none\"");
    replace_all(svg, "fill=\"black\"", "fill=\"currentColor\"");
    // Nor is a number of gnuplot's own, of what has no name, to be shown.
    svg = std::regex_replace(svg, std::regex("<title>(Gnuplot|gnuplot_plot_[0-9]+)</title>"), "");
    rename_colour(svg, ink, "--ink");
    rename_colour(svg, faint, "--faint");
    for (std::size_t k = 0; k < series_colours(); ++k)
        rename_colour(svg, series_colour(k), fmt::format("--series-{}", k));
    return svg;
}

}  // namespace ako
