// How long a cell will take, by what is known before.
#include "src/compare/estimate.h"

#include <doctest/doctest.h>

namespace ako::estimate_test {

namespace {

/// 1,000 rounds of each of 4 peers, of 20 to 30 ms.
CellWork thousand_rounds() {
    CellWork work;
    work.samples = 4 * 64 * 1000;
    work.trainers = 4;
    work.batch = 64;
    work.round = {0.02, 0.03};
    return work;
}

}  // namespace

TEST_CASE("a cell takes its rounds, and the time around them") {
    const TimeRange time = expected_time(thousand_rounds());
    CHECK(time.low > 20);
    CHECK(time.low < 25);
    CHECK(time.high > 30);
    CHECK(time.high < 40);
    CellWork half = thousand_rounds();
    half.trainers = 2;  // who each make twice as many
    CHECK(expected_time(half).high - time.high == doctest::Approx(30));
}

TEST_CASE("what is evaluated makes the range longer") {
    CellWork work = thousand_rounds();
    const TimeRange none = expected_time(work);
    work.evaluations = 9;
    work.evaluation = {0.5, 1};
    const TimeRange some = expected_time(work);
    CHECK(some.low - none.low == doctest::Approx(4.5));
    CHECK(some.high - none.high == doctest::Approx(9));
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
