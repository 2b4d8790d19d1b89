#include "src/compare/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "src/compare/figure_text.h"
#include "src/results/number_text.h"

namespace ako {

namespace {

constexpr std::size_t bar_columns = 20;
/// The text of a cell is worth showing from here on.
constexpr std::size_t cell_columns_min = 12;

std::string bar(double share, bool unicode) {
    const auto full = static_cast<std::size_t>(share * bar_columns);
    std::string text;
    for (std::size_t k = 0; k < bar_columns; ++k)
        text += k < full ? (unicode ? "\u2588" : "#") : (unicode ? "\u2591" : ".");
    return text;
}

std::string time_left(const Forecast& left, double cell_seconds) {
    if (!left.known) return "";
    return fmt::format("left about {}", clock_text(std::max(0.0, left.seconds - cell_seconds)));
}

}  // namespace

std::string progress_text(std::size_t done, const Forecast& left, const std::string& cell,
                          double cell_seconds, std::size_t columns, bool unicode) {
    const std::size_t all = done + left.cells;
    const double share =
        left.known && left.seconds > 0 && all > 0
            ? (static_cast<double>(done) +
               std::min(1.0, cell_seconds * static_cast<double>(left.cells) / left.seconds)) /
                  static_cast<double>(all)
            : static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(1, all));
    const std::string count = fmt::format("{} of {}  ", done, all);
    const std::string times =
        fmt::format("  {}  {}", clock_text(cell_seconds), time_left(left, cell_seconds));
    const std::size_t taken = count.size() + bar_columns + 2 + times.size();
    std::string name;
    if (columns > taken + cell_columns_min) {
        name = cell;
        const std::size_t room = columns - taken - 1;
        if (name.size() > room) name = name.substr(0, room - 2) + "..";
    }
    return count + bar(std::min(1.0, share), unicode) + "  " + name + times;
}

void ProgressLine::begin(const Cell& cell, std::size_t done, const Forecast& left) {
    cell_ = cell.text();
    done_ = done;
    left_ = left;
    if (columns_ == 0)
        fmt::print("{} of {}  {}  {}\n", done + 1, done + left.cells, cell_, time_left(left, 0));
    update(0);
}

void ProgressLine::update(double cell_seconds) {
    if (columns_ > 0)
        fmt::print("\r\033[K{}",
                   progress_text(done_, left_, cell_, cell_seconds, columns_ - 1, unicode_));
    std::fflush(stdout);
}

void ProgressLine::end(const CellResult& result, const std::string& pair) {
    clear();
    const std::string cell = columns_ > 0 ? cell_ + ": " : "";
    if (result.failed)
        fmt::print("    failed: {}{}\n", cell, result.why);
    else if (columns_ == 0)
        fmt::print("    {} in {}\n", percent_text(result.curve.best_accuracy(), 2),
                   clock_text(result.seconds));
    if (!pair.empty()) fmt::print("    {}{}", cell, pair);
    std::fflush(stdout);
}

void ProgressLine::clear() const {
    if (columns_ > 0) fmt::print("\r\033[K");
    std::fflush(stdout);
}

}  // namespace ako
