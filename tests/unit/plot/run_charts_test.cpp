// The charts of a run contain its series: of each peer, broken at restarts, thinned when long.
#include "src/plot/run_charts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/plot/recorded_run.h"

namespace ako::run_charts_test {

using test::line_at;

namespace {

PeerRecord peer_of(const std::string& name, int seconds) {
    PeerRecord peer;
    peer.name = name;
    for (int k = 1; k <= seconds; ++k) add_line(peer, line_at(k, 8.0 / k));
    return peer;
}

const Chart* find(const std::vector<Chart>& charts, const std::string& name) {
    const auto found = std::find_if(charts.begin(), charts.end(),
                                    [&name](const Chart& chart) { return chart.name == name; });
    return found == charts.end() ? nullptr : &*found;
}

/// The chart of this name, which must be there.
const Chart& chart_of(const std::vector<Chart>& charts, const std::string& name) {
    const Chart* const chart = find(charts, name);
    REQUIRE(chart != nullptr);
    return *chart;
}

}  // namespace

TEST_CASE("each peer has its line, with its own style, in every chart") {
    RunRecord run;
    run.peers = {peer_of("a", 5), peer_of("b", 6)};
    const std::vector<Chart> charts = run_charts(run);
    CHECK(find(charts, "accuracy") == nullptr);
    for (const char* const name : {"loss", "samples", "partitions", "staleness"}) {
        const SvgPlot& plot = chart_of(charts, name).plot;
        REQUIRE(plot.lines.size() == 2);
        CHECK(plot.symbols);
        CHECK(plot.lines[0].label == "a");
        CHECK(plot.lines[1].label == "b");
        CHECK(plot.lines[1].number == 1);
        CHECK(plot.lines[0].points.size() == 5);
        CHECK(plot.lines[1].points.size() == 6);
        CHECK(plot.lines[1].points[5].x == 6);
    }
    CHECK(chart_of(charts, "loss").plot.lines[0].points[1].y == 4);
    CHECK(chart_of(charts, "loss").plot.y_axis == Axis::logarithmic);
    CHECK(chart_of(charts, "samples").plot.lines[0].points[1].y == 32);
    CHECK(chart_of(charts, "partitions").plot.lines[0].points[1].y == 4);
    CHECK(chart_of(charts, "staleness").plot.lines[0].points[3].y == 4);
    CHECK(seconds_of_point(run) == 0);
}

TEST_CASE("a line is broken where the peer was started again") {
    RunRecord run;
    run.peers = {peer_of("a", 3)};
    for (int k = 1; k <= 2; ++k) add_line(run.peers[0], line_at(k, 1));
    const std::vector<Chart> charts = run_charts(run);
    const std::vector<SvgPoint>& points = chart_of(charts, "loss").plot.lines[0].points;
    REQUIRE(points.size() == 6);
    CHECK(points[2].x == 3);
    CHECK(std::isnan(points[3].y));
    CHECK(points[4].x == 4);
    CHECK(points[5].x == 5);
}

TEST_CASE("a long run is thinned: means, and the largest staleness, over hours") {
    constexpr int hours = 12 * 3600;
    RunRecord run;
    run.peers = {peer_of("a", hours)};
    const std::vector<Chart> charts = run_charts(run);
    const double stretch = seconds_of_point(run);
    CHECK(stretch == hours / 240.0);
    const SvgPlot& staleness = chart_of(charts, "staleness").plot;
    const std::vector<SvgPoint>& points = staleness.lines[0].points;
    CHECK(points.size() == 240);
    // Rounds modulo 5, of which every stretch has all.
    CHECK(std::all_of(points.begin(), points.end(),
                      [](const SvgPoint& point) { return point.y == 4; }));
    CHECK(points.back().x == doctest::Approx(12 - stretch / 3600 / 2).epsilon(0.001));
    CHECK(staleness.x_label == "time since the peer's start, h");
    const std::vector<SvgPoint>& samples = chart_of(charts, "samples").plot.lines[0].points;
    CHECK(std::all_of(samples.begin(), samples.end(),
                      [](const SvgPoint& point) { return point.y == doctest::Approx(32); }));
}

TEST_CASE("the more peers, the fewer points each line has, so that lines can be followed") {
    const auto points_of = [](std::size_t peers) {
        RunRecord run;
        run.peers.assign(peers, peer_of("a", 300));
        return chart_of(run_charts(run), "loss").plot.lines[0].points.size();
    };
    CHECK(points_of(4) == 240);
    CHECK(points_of(8) == 120);
    CHECK(points_of(16) == 60);
    CHECK(points_of(64) == 60);
}

TEST_CASE("a loss that does not fall far, or goes below zero, has a linear axis") {
    for (const double last : {7.0, 0.0, -1.0}) {
        RunRecord run;
        run.peers = {peer_of("a", 1)};
        add_line(run.peers[0], line_at(2, last));
        CHECK(chart_of(run_charts(run), "loss").plot.y_axis == Axis::linear);
    }
}

TEST_CASE("the accuracy is that of the curve, and before there is one what was first heard") {
    RunRecord run;
    run.peers = {peer_of("a", 1), peer_of("b", 1)};
    MetricsLine line = line_at(3, 1);
    line.accuracy = 0.9;
    line.accuracy_at = 0.25;
    add_line(run.peers[0], line);
    line.time = 2;
    add_line(run.peers[1], line);
    line.time = 5;
    line.accuracy = 0.95;
    line.accuracy_at = 0.5;
    add_line(run.peers[1], line);
    const SvgPlot heard = chart_of(run_charts(run), "accuracy").plot;
    REQUIRE(heard.lines.size() == 1);
    REQUIRE(heard.lines[0].points.size() == 2);
    CHECK(heard.lines[0].points[0].x == 2);  // b told it first
    CHECK(heard.lines[0].points[0].y == 0.9);
    CHECK(heard.lines[0].points[1].x == 5);
    CHECK(heard.x_label == "time since the peers' start, s");
    CHECK(heard.marks.empty());

    run.curve.resize(1);
    run.curve[0].seconds = 1.5;
    run.curve[0].accuracy = 0.91;
    run.settings.emplace();
    run.settings->training.target_accuracy = 0.97;
    const SvgPlot curve = chart_of(run_charts(run), "accuracy").plot;
    REQUIRE(curve.lines[0].points.size() == 1);
    CHECK(curve.lines[0].points[0].y == 0.91);
    CHECK(curve.x_label == "time since the first round, s");
    CHECK(curve.marks == std::vector<double>{0.97});
}

}  // namespace ako::run_charts_test
