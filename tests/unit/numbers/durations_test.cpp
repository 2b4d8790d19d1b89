// Quantiles and sums of durations that are counted in bins.
#include "src/numbers/durations.h"

#include <doctest/doctest.h>

namespace ako::durations_test {

using std::chrono::microseconds;

TEST_CASE("quantiles within a quarter of a percent, sums exact") {
    Durations durations;
    CHECK(durations.quantile(0.5) == Time{});
    for (int k = 1; k <= 1000; ++k) durations.add(microseconds(k));
    CHECK(durations.count() == 1000);
    CHECK(durations.sum() == microseconds(500'500));
    for (const double share : {0.1, 0.5, 0.9, 0.99, 1.0}) {
        CAPTURE(share);
        CHECK(static_cast<double>(durations.quantile(share).count()) ==
              doctest::Approx(share * 1e6).epsilon(0.0026));
    }
    CHECK(durations.quantile(0) < microseconds(2));
}

TEST_CASE("nothing is too short or too long") {
    Durations durations;
    durations.add(Time{});
    CHECK(durations.quantile(1) < std::chrono::nanoseconds(2));
    durations.add(std::chrono::hours(1000));
    CHECK(durations.quantile(1) > std::chrono::hours(2));
    CHECK(durations.sum() == std::chrono::hours(1000));
}

}  // namespace ako::durations_test
