// The labels of a plot's axis.
#include "src/screen/plot.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace ako::plot_test {

namespace {

/// What stands at the y axis, from the top.
std::vector<std::string> labels_of(const std::vector<PlotPoint>& points, bool percent = false) {
    std::vector<std::string> labels;
    for (const ScreenLine& line : plot(points, {"loss", "", percent}, {40, 9, true})) {
        const std::string text = line.text(100, false);
        const std::size_t edge = text.find("\u2524");
        if (edge == std::string::npos) continue;
        const std::string label = text.substr(0, edge);
        labels.push_back(label.substr(label.find_first_not_of(' ')));
    }
    return labels;
}

}  // namespace

TEST_CASE("labels have as many digits as it takes to tell them apart") {
    using Labels = std::vector<std::string>;
    CHECK(labels_of({{0.1, 1.56}}) == Labels{"1.562 ", "1.560 ", "1.558 "});
    CHECK(labels_of({{0.1, 2.3}, {0.2, 1.1}}) == Labels{"2.30 ", "1.70 ", "1.10 "});
    CHECK(labels_of({{0.1, 12345}}) == Labels{"12357 ", "12345 ", "12333 "});
    const Labels percent = labels_of({{0.1, 0.993}, {0.2, 0.9931}}, true);
    REQUIRE(percent.size() == 3);
    CHECK(percent.front() == "99.41 ");
    CHECK(percent.back() == "99.20 ");
    CHECK(labels_of({{0.1, 0.9999}}, true).front() == "100.00 ");  // and no more
    for (const double value : {0.0, 1e-9, 0.004, 9.999, 99.99, 1e4, 123456.0, 1e9, -3.0}) {
        const Labels labels = labels_of({{0.5, value}, {0.6, value * 1.0001}});
        CAPTURE(value);
        CHECK(!labels.empty());
        CHECK(std::set<std::string>(labels.begin(), labels.end()).size() == labels.size());
    }
}

}  // namespace ako::plot_test
