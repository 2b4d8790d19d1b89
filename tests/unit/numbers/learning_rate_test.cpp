// The learning rate over progress: every schedule, with and without warm-up.
#include "src/numbers/learning_rate.h"

#include <doctest/doctest.h>

namespace ako::learning_rate_test {

namespace {

TrainingSettings with(RateScheduleSettings schedule) {
    TrainingSettings training;
    training.learning_rate = 0.4;
    training.schedule = std::move(schedule);
    return training;
}

}  // namespace

TEST_CASE("a constant learning rate, with and without warm-up") {
    const auto plain = with({});
    for (const double progress : {0.0, 0.3, 1.0})
        CHECK(learning_rate_at(plain, progress) == doctest::Approx(0.4));
    const auto warmed = with({RateScheduleKind::constant, 0.1, {}, 0.1});
    CHECK(learning_rate_at(warmed, 0) == 0);
    CHECK(learning_rate_at(warmed, 0.05) == doctest::Approx(0.2));
    CHECK(learning_rate_at(warmed, 0.1) == doctest::Approx(0.4));
    CHECK(learning_rate_at(warmed, 0.9) == doctest::Approx(0.4));
}

TEST_CASE("cosine falls from the whole rate after the warm-up to nothing at the end") {
    const auto training = with({RateScheduleKind::cosine, 0.2, {}, 0.1});
    CHECK(learning_rate_at(training, 0.1) == doctest::Approx(0.2));
    CHECK(learning_rate_at(training, 0.2) == doctest::Approx(0.4));
    CHECK(learning_rate_at(training, 0.6) == doctest::Approx(0.2));
    CHECK(learning_rate_at(training, 1) == doctest::Approx(0));
    double before = learning_rate_at(training, 0.2);
    for (int i = 21; i <= 100; ++i) {
        const double now = learning_rate_at(training, i / 100.0);
        CHECK(now < before);
        before = now;
    }
}

TEST_CASE("steps multiply the rate at every mark passed") {
    const auto training = with({RateScheduleKind::steps, 0.1, {0.5, 0.75}, 0.5});
    CHECK(learning_rate_at(training, 0.05) == doctest::Approx(0.2));
    CHECK(learning_rate_at(training, 0.49) == doctest::Approx(0.4));
    CHECK(learning_rate_at(training, 0.5) == doctest::Approx(0.2));
    CHECK(learning_rate_at(training, 0.75) == doctest::Approx(0.1));
    for (const auto& [progress, passed] : {std::pair(0.49, 0), {0.5, 1}, {0.74, 1}, {1.0, 2}})
        CHECK(steps_passed(training.schedule, progress) == static_cast<std::size_t>(passed));
    CHECK(steps_passed({RateScheduleKind::cosine, 0, {0.5}, 0.1}, 1) == 0);
}

TEST_CASE("progress outside 0 .. 1 is clamped") {
    const auto training = with({RateScheduleKind::cosine, 0.2, {}, 0.1});
    CHECK(learning_rate_at(training, -1) == 0);
    CHECK(learning_rate_at(training, 2) == doctest::Approx(0));
}

}  // namespace ako::learning_rate_test
