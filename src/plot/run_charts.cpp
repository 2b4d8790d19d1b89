#include "src/plot/run_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace ako {

namespace {

constexpr unsigned width = 440;
constexpr unsigned height = 320;
/// A loss that falls by this factor is shown by a logarithmic axis.
constexpr double logarithmic_from = 4;

/// Points of each line: as many as can be told apart in a drawing this wide, and fewer with many
/// lines, so that where they are close they can be followed.
double points_max(std::size_t lines) {
    constexpr double of_all = 960, least = 60, most = 240;
    return std::clamp(of_all / static_cast<double>(lines), least, most);
}

constexpr double minute = 60;
constexpr double hour = 3600;

/// In what time is counted.
struct TimeUnit {
    double seconds = 1;
    const char* name = "s";
};

TimeUnit unit_for(double seconds) {
    constexpr double few = 10;  // of a unit are better shown in the next smaller one
    if (seconds > few * hour) return {hour, "h"};
    if (seconds > few * minute) return {minute, "min"};
    return {};
}

enum class Fold { mean, largest };

/// What a chart shows of each peer.
struct Quantity {
    const char* name;
    const char* title;
    const char* y_label;
    std::optional<double> PeerMoment::*value;
    Fold fold = Fold::mean;
};

constexpr Quantity loss = {"loss", "training loss of each peer", "loss", &PeerMoment::loss};
constexpr Quantity samples = {"samples", "samples/s of each peer", "samples/s",
                              &PeerMoment::samples_per_s};
constexpr Quantity partitions = {"partitions", "P of each peer", "rounds of one cycle",
                                 &PeerMoment::partitions};
constexpr Quantity staleness = {"staleness", "the stalest link of each peer", "rounds behind",
                                &PeerMoment::staleness_rounds, Fold::largest};

/// Points of one peer: each for the moments of one stretch of time.
class Points {
  public:
    Points(double stretch, TimeUnit unit, Fold fold)
        : stretch_(stretch), unit_(unit), fold_(fold) {}

    void take(const PeerMoment& moment, double value) {
        // The end of a stretch is part of it, so that none begins with the last line of all.
        const double stretch = stretch_ > 0 ? std::ceil(moment.seconds / stretch_ - rounding) : 0;
        const bool other_process = moment.process != process_;
        if (stretch_ == 0 || stretch != at_ || other_process) end_point();
        if (other_process && !points_.empty()) points_.push_back({0, gap, gap, gap});
        at_ = stretch;
        process_ = moment.process;
        seconds_ += moment.seconds;
        const bool largest = fold_ == Fold::largest && count_ > 0;
        value_ = largest ? std::max(value_, value) : value_ + value;
        ++count_;
    }

    std::vector<SvgPoint> end() {
        end_point();
        return std::move(points_);
    }

  private:
    static constexpr double rounding = 1e-9;  ///< of the division
    static constexpr double gap = std::numeric_limits<double>::quiet_NaN();

    void end_point() {
        if (count_ == 0) return;
        const double y = fold_ == Fold::mean ? value_ / count_ : value_;
        points_.push_back({seconds_ / count_ / unit_.seconds, y, y, y});
        seconds_ = value_ = count_ = 0;
    }

    const double stretch_;
    const TimeUnit unit_;
    const Fold fold_;
    double at_ = 0;  ///< the stretch, by its number
    unsigned process_ = 0;
    double seconds_ = 0;  ///< the sum of its moments
    double value_ = 0;
    double count_ = 0;
    std::vector<SvgPoint> points_;
};

Chart empty_chart(const std::string& name, const std::string& title, const std::string& y_label) {
    Chart chart;
    chart.name = name;
    chart.plot.title = title;
    chart.plot.y_label = y_label;
    chart.plot.width = width;
    chart.plot.height = height;
    return chart;
}

/// A line for each peer.
Chart chart_of_peers(const RunRecord& run, const Quantity& quantity) {
    Chart chart = empty_chart(quantity.name, quantity.title, quantity.y_label);
    const TimeUnit unit = unit_for(run.seconds());
    chart.plot.x_label = fmt::format("time since the peer's start, {}", unit.name);
    chart.plot.symbols = true;
    for (std::size_t place = 0; place < run.peers.size(); ++place) {
        Points points(seconds_of_point(run), unit, quantity.fold);
        for (const PeerMoment& moment : run.peers[place].moments)
            if (const auto& value = moment.*quantity.value) points.take(moment, *value);
        SvgLine line;
        line.label = run.peers[place].name;
        line.number = place;
        line.points = points.end();
        chart.plot.lines.push_back(std::move(line));
    }
    return chart;
}

/// Logarithmic where the loss falls far and never reaches zero.
Axis axis_of_loss(const SvgPlot& plot) {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const SvgLine& line : plot.lines) {
        for (const SvgPoint& point : line.points) {
            if (!std::isfinite(point.y)) continue;
            low = std::min(low, point.y);
            high = std::max(high, point.y);
        }
    }
    const bool falls = low > 0 && high > logarithmic_from * low;
    return falls ? Axis::logarithmic : Axis::linear;
}

Chart loss_chart(const RunRecord& run) {
    Chart chart = chart_of_peers(run, loss);
    chart.plot.y_axis = axis_of_loss(chart.plot);
    if (chart.plot.y_axis == Axis::logarithmic) chart.plot.y_label += ", logarithmic";
    return chart;
}

/// When the peers' lines first told each verdict, of the progress at which it was taken.
std::vector<SvgPoint> heard_accuracies(const RunRecord& run, TimeUnit unit) {
    std::map<double, SvgPoint> by_progress;
    for (const PeerRecord& peer : run.peers) {
        for (const PeerMoment& moment : peer.moments) {
            if (!moment.accuracy || !moment.accuracy_at) continue;
            const double x = moment.seconds / unit.seconds;
            const SvgPoint point{x, *moment.accuracy, *moment.accuracy, *moment.accuracy};
            const auto [found, fresh] = by_progress.try_emplace(*moment.accuracy_at, point);
            if (!fresh && x < found->second.x) found->second = point;
        }
    }
    std::vector<SvgPoint> points;
    points.reserve(by_progress.size());
    for (const auto& [progress, point] : by_progress) points.push_back(point);
    return points;
}

Chart accuracy_chart(const RunRecord& run) {
    Chart chart = empty_chart("accuracy", "test accuracy", "test accuracy");
    const TimeUnit unit = unit_for(run.seconds());
    const bool whole = !run.curve.empty();
    chart.plot.x_label =
        fmt::format("time since {}, {}", whole ? "the first round" : "the peers' start", unit.name);
    chart.plot.accuracy = true;
    chart.plot.key = false;
    if (run.settings && run.settings->training.target_accuracy)
        chart.plot.marks = {*run.settings->training.target_accuracy};
    SvgLine line;
    line.label = "test accuracy";
    for (const CurvePoint& point : run.curve)
        line.points.push_back(
            {point.seconds / unit.seconds, point.accuracy, point.accuracy, point.accuracy});
    if (!whole) line.points = heard_accuracies(run, unit);
    chart.plot.lines = {line};
    return chart;
}

bool has_points(const Chart& chart) {
    return std::any_of(chart.plot.lines.begin(), chart.plot.lines.end(),
                       [](const SvgLine& line) { return !line.points.empty(); });
}

}  // namespace

double seconds_of_point(const RunRecord& run) {
    std::size_t most = 0;
    for (const PeerRecord& peer : run.peers) most = std::max(most, peer.moments.size());
    const double points = points_max(run.peers.size());
    return static_cast<double>(most) <= points ? 0 : run.seconds() / points;
}

std::vector<Chart> run_charts(const RunRecord& run) {
    std::vector<Chart> charts = {loss_chart(run), accuracy_chart(run), chart_of_peers(run, samples),
                                 chart_of_peers(run, partitions), chart_of_peers(run, staleness)};
    std::erase_if(charts, [](const Chart& chart) { return !has_points(chart); });
    return charts;
}

}  // namespace ako
