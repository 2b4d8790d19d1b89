// What is drawn: the file stands alone, the figure names its lines in text.
#include "src/plot/chart.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "tests/contains.h"
#include "tests/temporary_folder.h"

namespace ako::chart_test {

using test::contains;

namespace {

std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

Chart two_lines() {
    Chart chart;
    chart.name = "loss";
    chart.plot.title = "loss <of> each";
    chart.plot.symbols = true;
    constexpr double gap = std::numeric_limits<double>::quiet_NaN();
    chart.plot.lines = {
        {"left_one", 0, false, {{1, 2, 2, 2}, {2, 1, 1, 1}, {0, gap, gap, gap}, {3, 1, 1, 1}}},
        {"right-one", 9, false, {{1, 3, 3, 3}, {2, 2, 2, 2}}},
        {"nowhere", 2, false, {}}};
    return chart;
}

}  // namespace

TEST_CASE("a file has its key inside, the figure of a page below in text") {
    const test::TemporaryFolder folder;
    const std::string figure = draw_chart(two_lines(), folder.path());
    const std::string file = content(folder.file("loss.svg"));
    for (const char* const name : {"left_one", "right-one"}) {
        CHECK(contains(file, std::string("<title>") + name + "</title>"));
        CHECK(contains(figure, std::string("</svg>") + name + "</span>"));
    }
    CHECK_FALSE(contains(figure, "nowhere"));
    CHECK(contains(figure, "aria-label=\"loss &lt;of&gt; each\""));
    CHECK(contains(figure, "id='loss-gpPt6'"));
    CHECK(contains(figure, "href=\"#loss-gpPt6\""));  // the sample has the line's own symbol
    CHECK(contains(figure, "stroke-dasharray=\"10 5\""));
    CHECK_FALSE(contains(figure, "gnuplot_plot_1</title>"));
}

TEST_CASE("a line is broken where a value is not finite") {
    const test::TemporaryFolder folder;
    draw_chart(two_lines(), folder.path());
    const std::string script = content(folder.file("loss.svg.gnuplot"));
    CHECK(contains(script, "$line0 << END\n1 2 2 2\n2 1 1 1\n\n3 1 1 1\nEND\n"));
    CHECK(contains(script, "dashtype (10,5)"));
    CHECK_FALSE(contains(script, "$line2 using"));
}

TEST_CASE("a folder may have a quote in its name") {
    const test::TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("it's"));
    draw_chart(two_lines(), folder.file("it's"));
    CHECK(contains(content(folder.file("it's/loss.svg")), "</svg>"));
}

TEST_CASE("values that are all zero, or below it, have an axis") {
    const test::TemporaryFolder folder;
    Chart chart = two_lines();
    for (SvgLine& line : chart.plot.lines)
        for (SvgPoint& point : line.points) point = {point.x, 0, 0, 0};
    draw_chart(chart, folder.path());
    CHECK(contains(content(folder.file("loss.svg.gnuplot")), "set yrange [0:1]\n"));
    chart.plot.lines[0].points[0] = {1, -2, -2, -2};
    draw_chart(chart, folder.path());
    CHECK(contains(content(folder.file("loss.svg.gnuplot")), "set yrange [*:*]\n"));
}

TEST_CASE("a key of many names makes the drawing higher") {
    const test::TemporaryFolder folder;
    Chart chart = two_lines();
    chart.plot.width = 480;
    draw_chart(chart, folder.path());
    CHECK(contains(content(folder.file("loss.svg.gnuplot")), "size 480,400 "));
    for (std::size_t number = 3; number < 16; ++number)
        chart.plot.lines.push_back({"worker-" + std::to_string(number), number, false,
                                    {{1, 1, 1, 1}, {2, 1, 1, 1}}});
    draw_chart(chart, folder.path());
    CHECK(contains(content(folder.file("loss.svg.gnuplot")), "maxrows 6 "));
    CHECK(contains(content(folder.file("loss.svg.gnuplot")), "size 480,480 "));
}

}  // namespace ako::chart_test
