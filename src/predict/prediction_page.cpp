// See prediction_page.h.
#include "src/predict/prediction_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "src/plot/chart.h"
#include "src/plot/html.h"
#include "src/results/number_text.h"
#include "src/system/whole_file.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

constexpr unsigned chart_width = 440, chart_height = 340;

/// The speed-up of each mode by the machines, beside what as many machines would be at best.
Chart speed_up_chart(const Prediction& prediction, const TableOf& table) {
    std::map<std::string, SvgLine> lines;
    SvgLine best{"as many times", 0, true, {}};
    for (const Predicted* cell : cells_of(prediction, table)) {
        const auto machines = static_cast<double>(cell->machines);
        const StepAnswer& step = cell->step;
        if (std::none_of(best.points.begin(), best.points.end(),
                         [&](const SvgPoint& point) { return point.x == machines; }))
            best.points.push_back({machines, machines, machines, machines});
        if (cell->machines == 1) continue;
        const double scale = cell->speed_up * step.round_s;
        lines[cell->mode.kind()].points.push_back(
            {machines, cell->speed_up, scale / step.high_s, scale / step.low_s});
    }
    Chart chart;
    chart.name = fmt::format("speed-up-{:g}-{}", table.rate_mbit, table.batch);
    SvgPlot& plot = chart.plot;
    plot.title = fmt::format("{}, {} samples", rate_text(table.rate_mbit), table.batch);
    plot.x_label = "machines";
    plot.y_label = "samples/s, times one machine alone";
    plot.x_axis = plot.y_axis = Axis::logarithmic;
    plot.symbols = true;
    plot.width = chart_width;
    plot.height = chart_height;
    const auto rising = [](const SvgPoint& a, const SvgPoint& b) { return a.x < b.x; };
    std::size_t number = 0;
    for (auto& [name, line] : lines) {
        std::sort(line.points.begin(), line.points.end(), rising);
        line.label = name;
        line.number = number++;
        plot.lines.push_back(std::move(line));
    }
    std::sort(best.points.begin(), best.points.end(), rising);
    best.number = number;
    plot.lines.push_back(std::move(best));
    return chart;
}

std::string rounds_table(const Prediction& prediction, const TableOf& table) {
    std::vector<std::vector<HtmlCell>> rows;
    for (const Predicted* cell : cells_of(prediction, table)) {
        const StepAnswer& step = cell->step;
        rows.push_back(
            {number_cell(fmt::to_string(cell->machines)),
             {html_text(cell->name())},
             number_cell(fmt::format("{:.1f}", step.round_s * ms)),
             number_cell(fmt::format("{:.1f} to {:.1f}", step.low_s * ms, step.high_s * ms)),
             number_cell(fmt::format("{:.1f}", step.compute_s * ms)),
             number_cell(fmt::format("{:.1f}", step.hidden_s() * ms)),
             number_cell(fmt::format("{:.1f}", step.exposed_s * ms)),
             number_cell(bytes_text(step.bytes)),
             number_cell(bytes_text(static_cast<double>(cell->memory_bytes))),
             number_cell(grouped(static_cast<std::uint64_t>(std::llround(step.samples_per_s)))),
             number_cell(fmt::format("{:.2f}", cell->speed_up)),
             number_cell(cell->target_s ? fmt::format("{:.1f}", *cell->target_s) : "")});
    }
    return html_table(
        fmt::format("{}, {} samples a round of each peer", rate_text(table.rate_mbit), table.batch),
        {"machines", "mode", "round, ms", "four of five times", "compute, ms", "hidden, ms",
         "waits, ms", "sent", "memory", "samples/s", "speed-up", "target, s"},
        rows);
}

/// A conclusion; below it, indented, what to paste, and what is to be known of it.
std::string headline_part(const std::string& line) {
    if (!line.starts_with(' '))
        return fmt::format("<p class=\"conclusion\">{}</p>\n", html_text(line));
    const std::string text = html_text(line.substr(line.find_first_not_of(' ')));
    return text.starts_with("--") ? fmt::format("<pre>{}</pre>\n", text)
                                  : fmt::format("<p>{}</p>\n", text);
}

}  // namespace

std::string write_prediction_page(const Prediction& prediction, const std::string& headline,
                                  const Grounds& grounds, const std::string& title,
                                  const std::string& folder) {
    require_gnuplot();
    const fs::path plots = fs::path(folder) / "plots";
    make_folder_for(plots.string(), "--output");
    std::string body = fmt::format("<h1>{}</h1>\n", html_text(title));
    std::istringstream lines(headline);
    for (std::string line; std::getline(lines, line);)
        body += headline_part(line);
    for (const std::string& ground : grounds)
        body += fmt::format("<p class=\"soft\">{}</p>\n", html_text(ground));
    std::string figures, tables;
    for (const TableOf& table : tables_of(prediction)) {
        figures += draw_chart(speed_up_chart(prediction, table), plots.string());
        tables += rounds_table(prediction, table);
    }
    body += "<div class=\"plots\">\n" + figures + "</div>\n";
    std::string file = (fs::path(folder) / "predict.html").string();
    write_whole_file(file, html_page(title, body + "<h2>Rounds</h2>\n" + tables));
    return file;
}

}  // namespace ako
