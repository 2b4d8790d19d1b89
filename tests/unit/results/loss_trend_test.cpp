// What losses must tell of a run: those of its end, by their median, against the first one; nothing
// of a run that is short, or that was taken over from others.
#include "src/results/loss_trend.h"

#include <doctest/doctest.h>

#include <limits>

namespace ako::loss_trend_test {

namespace {

TEST_CASE("the newest losses count by their median, and the first by itself") {
    LossTrend trend;
    trend.add(2, 0.01);
    for (std::size_t k = 1; k < LossTrend::losses_of_an_end; ++k) trend.add(100, 0.02);
    CHECK_FALSE(trend.ends().has_value());
    trend.add(100, 0.02);
    REQUIRE(trend.ends().has_value());
    CHECK(trend.ends()->newest == 100);
    CHECK(trend.ends()->largest_of_first == 100);
    for (std::size_t k = 0; k < LossTrend::losses_of_an_end; ++k) trend.add(k == 3 ? 100 : 1, 0.5);
    CHECK(trend.ends()->first == 2);
    CHECK(trend.ends()->newest == 1);
}

TEST_CASE("a loss that is not finite is no end") {
    LossTrend trend;
    trend.add(std::numeric_limits<float>::infinity(), 0.01);
    for (std::size_t k = 0; k < LossTrend::losses_of_an_end; ++k) trend.add(3, 0.02);
    CHECK_FALSE(trend.ends().has_value());
    trend.add(std::numeric_limits<float>::quiet_NaN(), 0.02);
    CHECK_FALSE(trend.ends().has_value());
    trend.add(3, 0.02);
    REQUIRE(trend.ends().has_value());
    CHECK(trend.ends()->first == 3);
}

TEST_CASE("who takes over a trained model has no first loss") {
    LossTrend trend;
    for (std::size_t k = 0; k <= LossTrend::losses_of_an_end; ++k)
        trend.add(1, LossTrend::begins_late + 0.01);
    CHECK_FALSE(trend.ends().has_value());
}

}  // namespace
}  // namespace ako::loss_trend_test
