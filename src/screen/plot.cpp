#include "src/screen/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

namespace ako {

namespace {

constexpr std::size_t label_width = 7;
constexpr std::size_t frame_rows = 2;  // title and labels of the x axis
/// Values that differ less than this (relatively) would make every wobble look like a change.
constexpr double relative_span_min = 1e-3;

/// Dots in a grid of characters.
class DotCanvas {
  public:
    DotCanvas(std::size_t columns, std::size_t rows, bool unicode)
        : columns_(columns),
          unicode_(unicode),
          width_(columns * (unicode ? 2 : 1)),
          height_(rows * (unicode ? 4 : 2)),
          dots_(width_ * height_) {}

    std::size_t width() const { return width_; }
    std::size_t height() const { return height_; }

    /// From the upper left corner.
    void line(long x, long y, long to_x, long to_y) {
        const long steps = std::max({std::labs(to_x - x), std::labs(to_y - y), 1L});
        for (long k = 0; k <= steps; ++k)
            set(x + (to_x - x) * k / steps, y + (to_y - y) * k / steps);
    }

    /// Without the blanks at its end.
    std::string row(std::size_t row) const {
        std::string text;
        for (std::size_t column = 0; column < columns_; ++column)
            text += unicode_ ? braille(column, row) : ascii(column, row);
        text.erase(text.find_last_not_of(' ') + 1);
        return text;
    }

  private:
    void set(long x, long y) {
        if (x < 0 || y < 0 || x >= static_cast<long>(width_) || y >= static_cast<long>(height_))
            return;
        dots_[static_cast<std::size_t>(y) * width_ + static_cast<std::size_t>(x)] = true;
    }
    bool at(std::size_t x, std::size_t y) const { return dots_[y * width_ + x]; }

    std::string braille(std::size_t column, std::size_t row) const {
        // Unicode counts the dots down the left and then the right, but for the lowest two.
        constexpr unsigned bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
        unsigned pattern = 0;
        for (std::size_t y = 0; y < 4; ++y)
            for (std::size_t x = 0; x < 2; ++x)
                if (at(column * 2 + x, row * 4 + y)) pattern |= bits[y][x];
        if (pattern == 0) return " ";
        // U+2800 and the pattern in UTF-8.
        return {'\xE2', static_cast<char>(0xA0 | pattern >> 6),
                static_cast<char>(0x80 | (pattern & 0x3F))};
    }
    std::string ascii(std::size_t column, std::size_t row) const {
        const bool above = at(column, row * 2);
        const bool below = at(column, row * 2 + 1);
        if (above && below) return ":";
        return above ? "'" : below ? "." : " ";
    }

    const std::size_t columns_;
    const bool unicode_;
    const std::size_t width_;
    const std::size_t height_;
    std::vector<bool> dots_;
};

/// The y axis: from values to 0 (bottom) .. 1 (top) and back.
struct Scale {
    double low = 0;
    double high = 1;
    bool log = false;

    double place(double value) const {
        const double v = log ? std::log10(value) : value;
        return (v - low) / (high - low);
    }
    double value(double place) const {
        const double v = low + place * (high - low);
        return log ? std::pow(10, v) : v;
    }
};

/// What falls on the same dot column becomes its mean: a curve, not a cloud.
std::vector<PlotPoint> merged(const std::vector<PlotPoint>& points, std::size_t width) {
    History history(width);
    for (const PlotPoint& point : points) history.add(point.x, point.y);
    return history.points();
}

Scale scale_of(const std::vector<PlotPoint>& points, bool log_wanted) {
    const auto [least, most] =
        std::minmax_element(points.begin(), points.end(),
                            [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; });
    Scale scale{least->y, most->y, false};
    if (log_wanted && least->y > 0 && most->y >= 10 * least->y)
        scale = {std::log10(least->y), std::log10(most->y), true};
    const double span_min = relative_span_min * std::max(std::abs(scale.high), 1e-6);
    if (scale.high - scale.low < span_min) {
        scale.low -= span_min;
        scale.high += span_min;
    }
    return scale;
}

/// With `more` digits than usual. A span of 2 % and less wants its digits: the last tenths of a
/// percent are what people look at.
std::string label_of(double value, const Scale& scale, bool percent, int more) {
    if (percent)
        return fmt::format("{:.{}f}", 100 * value, (scale.high - scale.low < 0.02 ? 2 : 1) + more);
    const double size = std::abs(value);
    if (size >= 1e4 && size < 1e6 && more > 0) return fmt::format("{:.{}f}", value, more - 1);
    if (size >= 1e4 || (size < 1e-3 && size > 0)) return fmt::format("{:.{}e}", value, more);
    const int usual = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return fmt::format("{:.{}f}", value, usual + more);
}

/// The labels of the y axis, one for each row and most of them empty: with as many digits as it
/// takes for no two to be the same. If that needs more room than there is, only the lowest is left.
std::vector<std::string> y_labels(const Scale& scale, bool percent, std::size_t rows) {
    std::vector<std::size_t> labelled = {0, rows - 1};
    if (rows >= 5) labelled.push_back(rows / 2);
    std::vector<std::string> labels;
    for (int more = 0;; ++more) {
        labels.assign(rows, "");
        std::set<std::string> different;
        std::size_t widest = 0;
        for (const std::size_t row : labelled) {
            const double from_top = static_cast<double>(row) / static_cast<double>(rows - 1);
            labels[row] = label_of(scale.value(1 - from_top), scale, percent, more);
            widest = std::max(widest, labels[row].size());
            different.insert(labels[row]);
        }
        if (different.size() == labelled.size() && widest <= label_width) return labels;
        if (widest > label_width) break;
    }
    labels.assign(rows, "");
    labels.back() = label_of(scale.value(0), scale, percent, 0);
    return labels;
}

DotCanvas draw(const std::vector<PlotPoint>& points, const Scale& scale, std::size_t columns,
               std::size_t rows, bool unicode) {
    DotCanvas canvas(columns, rows, unicode);
    const auto x_of = [&](const PlotPoint& point) {
        return std::lround(point.x * static_cast<double>(canvas.width() - 1));
    };
    const auto y_of = [&](const PlotPoint& point) {
        return std::lround((1 - scale.place(point.y)) * static_cast<double>(canvas.height() - 1));
    };
    for (std::size_t k = 0; k < points.size(); ++k) {
        const PlotPoint& from = points[k == 0 ? 0 : k - 1];
        canvas.line(x_of(from), y_of(from), x_of(points[k]), y_of(points[k]));
    }
    return canvas;
}

/// 0, the middle and the end of the x axis under a canvas of so many columns.
std::string x_labels(double x_end, std::size_t columns) {
    std::string text(columns, ' ');
    const auto put = [&text](const std::string& label, std::size_t end) {
        if (label.size() <= end && end <= text.size())
            text.replace(end - label.size(), label.size(), label);
    };
    const std::string end = fmt::format("{:.4g} epoch{}", x_end, x_end == 1 ? "" : "s");
    const std::string middle = fmt::format("{:.4g}", x_end / 2);
    put(end, columns);
    if (columns / 2 + middle.size() + end.size() + 2 <= columns)
        put(middle, columns / 2 + middle.size() / 2);
    text[0] = '0';
    return text;
}

}  // namespace

std::vector<ScreenLine> plot(const std::vector<PlotPoint>& all_points, const PlotTexts& texts,
                             const PlotStyle& style) {
    const std::size_t rows = style.rows - frame_rows;
    const std::size_t axis = label_width + 2;
    const std::size_t columns = style.columns > axis + 4 ? style.columns - axis : 4;
    const std::vector<PlotPoint> points = merged(all_points, columns * (style.unicode ? 2 : 1));
    Scale scale = points.empty() ? Scale{} : scale_of(points, texts.log_scale);
    if (texts.percent) scale.high = std::min(scale.high, 1.0);
    const DotCanvas canvas = draw(points, scale, columns, rows, style.unicode);

    const std::vector<std::string> labels =
        points.empty() ? std::vector<std::string>(rows) : y_labels(scale, texts.percent, rows);

    std::vector<ScreenLine> lines;
    const std::size_t title = texts.title.size() + 1 + texts.newest.size();
    const std::size_t beside = style.columns > title ? style.columns - title : 0;
    lines.emplace_back(std::string(std::min(axis, beside), ' '));
    lines[0].add(texts.title, Paint::strong).add(" ").add(texts.newest, style.paint);
    if (scale.log) lines[0].add(", logarithmic", Paint::faint);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::string& label = labels[row];
        ScreenLine line(fmt::format("{:>{}} ", label, label_width), Paint::faint);
        const char* edge =
            style.unicode ? (label.empty() ? "│" : "┤") : (label.empty() ? "|" : "+");
        lines.push_back(line.add(edge, Paint::faint).add(canvas.row(row), style.paint));
    }
    lines.emplace_back(std::string(axis, ' '));
    lines.back().add(x_labels(texts.x_end, columns), Paint::faint);
    return lines;
}

}  // namespace ako
