// How long a cell will take, by what is known before.
#include "src/compare/estimate.h"

#include <doctest/doctest.h>

namespace ako::estimate_test {

namespace {

/// 1,000 rounds of each of 4 peers, of 10 ms on a whole core.
CellWork thousand_rounds() {
    CellWork work;
    work.samples = 4 * 64 * 1000;
    work.trainers = 4;
    work.batch = 64;
    work.gradient = {0.01, 0.01};
    work.share = work.smallest_share = 0.5;
    work.test_samples = 0;
    return work;
}

}  // namespace

TEST_CASE("a cell takes as long as its slower part, and at most both") {
    CellWork work = thousand_rounds();
    const TimeRange computing = expected_time(work);
    CHECK(computing.low < 20);  // 1,000 rounds of 20 ms
    CHECK(computing.high > 20);
    work.bytes_per_round = 1'250'000;
    work.mbit = 10;  // a second of the link for every round
    const TimeRange sending = expected_time(work);
    CHECK(sending.low >= 1000);
    CHECK(sending.high == doctest::Approx(computing.high + 1000));
    work.mbit.reset();
    CHECK(expected_time(work).high == doctest::Approx(computing.high));
}

TEST_CASE("a slow machine, and what is evaluated, make the range longer") {
    CellWork work = thousand_rounds();
    const TimeRange equal = expected_time(work);
    work.smallest_share = 0.1;
    CHECK(expected_time(work).low == doctest::Approx(equal.low));
    CHECK(expected_time(work).high > 4 * equal.high);
    work = thousand_rounds();
    work.evaluations = 9;
    work.test_samples = 10'000;
    // 90,000 samples forward, at about a third of 10 ms for 64.
    CHECK(expected_time(work).low - equal.low == doctest::Approx(4.7).epsilon(0.3));
}

TEST_CASE("a machine that is busy while it is asked makes the range longer at its end alone") {
    CellWork work = thousand_rounds();
    const TimeRange quiet = expected_time(work);
    work.gradient.high *= 3;
    CHECK(expected_time(work).low == doctest::Approx(quiet.low));
    CHECK(expected_time(work).high > 2 * quiet.high);
}

TEST_CASE("a range reads as people say it") {
    CHECK(TimeRange{40, 90}.text() == "40 to 90 s");
    CHECK(TimeRange{1500, 4200}.text() == "25 to 70 min");
    CHECK(TimeRange{5400, 11'520}.text() == "1.5 to 3.2 h");
    TimeRange sum{1, 2};
    sum += {3, 4};
    CHECK(sum.low == 4);
    CHECK(sum.high == 6);
}

}  // namespace ako::estimate_test
