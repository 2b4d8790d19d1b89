// Where the time of rounds goes, by a clock that the test sets.
#include "src/training/round_times.h"

#include <doctest/doctest.h>

namespace ako::round_times_test {

using std::chrono::milliseconds;

namespace {

/// Makes rounds out of steps of so many milliseconds.
struct Rounds {
    RoundTimes times;
    Time now = std::chrono::hours(3);

    void after(int ms, RoundMoment moment) {
        now += milliseconds(ms);
        times.reached(moment, now);
    }
    /// 100 ms in all: waits of 1, 2, 4 and 8 ms, 80 ms of gradient, 5 ms for the batch.
    void round(int slower = 1) {
        after(0, RoundMoment::begun);
        after(1 * slower, RoundMoment::may_train);
        after(5 * slower, RoundMoment::gradient_begun);
        after(30 * slower, RoundMoment::await_begun);
        after(2 * slower, RoundMoment::await_ended);
        after(0, RoundMoment::await_begun);
        after(4 * slower, RoundMoment::await_ended);
        after(50 * slower, RoundMoment::gradient_ended);
        after(8 * slower, RoundMoment::ended);
    }
};

double ms(Time time) { return std::chrono::duration<double, std::milli>(time).count(); }

}  // namespace

TEST_CASE("a round's time is gradient, wait and the rest") {
    Rounds rounds;
    CHECK_FALSE(rounds.times.began_at());
    CHECK(rounds.times.training() == Time{});
    rounds.after(0, RoundMoment::begun);
    rounds.after(60'000, RoundMoment::may_train);  // the wait for the others at the start
    const Time began = rounds.now;
    rounds.after(0, RoundMoment::gradient_begun);
    rounds.after(99, RoundMoment::gradient_ended);
    rounds.after(0, RoundMoment::ended);
    for (int k = 0; k < 9; ++k) {
        rounds.round();
        rounds.now += milliseconds(1000);  // an evaluation between two rounds
    }
    CHECK(rounds.times.rounds() == 10);
    CHECK(rounds.times.began_at() == began);
    CHECK(rounds.times.training() == milliseconds(99 + 9 * 100 + 8 * 1000));
    const RoundTimes::Figures figures = rounds.times.figures();
    CHECK(figures.round.count() == 10);
    CHECK(figures.round.sum() == milliseconds(99 + 900));
    CHECK(figures.gradient.sum() == milliseconds(99 + 9 * 80));
    CHECK(figures.wait.sum() == milliseconds(9 * 15));
    CHECK(ms(figures.round.quantile(0.5)) == doctest::Approx(100).epsilon(0.003));
    CHECK(ms(figures.gradient.quantile(0.5)) == doctest::Approx(80).epsilon(0.003));
    CHECK(ms(figures.wait.quantile(0.5)) == doctest::Approx(15).epsilon(0.003));
    CHECK(figures.compute_share() == doctest::Approx(819.0 / 999));
    const RoundParts& parts = rounds.times.parts();
    CHECK(parts[RoundPart::apply].seconds == doctest::Approx(9 * 0.001));
    CHECK(parts[RoundPart::input].seconds == doctest::Approx(9 * 0.005));
    CHECK(parts[RoundPart::gradient].seconds == doctest::Approx(0.099 + 9 * 0.080));
    CHECK(parts[RoundPart::wait].seconds == doctest::Approx(9 * 0.006));
    CHECK(parts[RoundPart::publish].seconds == doctest::Approx(9 * 0.008));
    CHECK(parts.exchange_seconds() == doctest::Approx(9 * 0.015));
    CHECK(parts[RoundPart::gradient].counts.at(7) == 10);  // 50 to 100 ms
}

TEST_CASE("the first five rounds count only in a short run") {
    Rounds rounds;
    for (int k = 0; k < 5; ++k) rounds.round(10);
    for (int k = 5; k < 20; ++k) rounds.round();
    CHECK(rounds.times.figures().round.count() == 20);
    CHECK(ms(rounds.times.figures().round.quantile(0.99)) > 900);
    rounds.round();
    const RoundTimes::Figures figures = rounds.times.figures();
    CHECK(figures.round.count() == 16);
    CHECK(ms(figures.round.quantile(0.99)) == doctest::Approx(100).epsilon(0.003));
    CHECK(figures.compute_share() == doctest::Approx(0.8));
    CHECK(RoundTimes().figures().compute_share() == 0);
}

}  // namespace ako::round_times_test
