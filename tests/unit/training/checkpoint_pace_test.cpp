// How often checkpoints pay, by formula and against simulated faults.
#include "src/training/checkpoint_pace.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace ako::checkpoint_pace_test {

namespace {

constexpr double hour = 3600;

CheckpointCost cost_of(double seconds) { return {seconds, 0, 0}; }

/// The share of the time that is lost where faults come after these seconds each: to checkpoints,
/// `interval` seconds of work apart, and to work that is done again.
double lost_share(const std::vector<double>& faults, double interval, double cost) {
    double lost = 0, all = 0;
    for (const double after : faults) {
        const double kept = std::floor(after / (interval + cost)) * interval;
        lost += after - kept;
        all += after;
    }
    return lost / all;
}

std::vector<double> faults_each(double mtbf) {
    std::mt19937_64 chance(7);
    std::exponential_distribution<double> after(1 / mtbf);
    std::vector<double> found(20'000);
    for (double& it : found) it = after(chance);
    return found;
}

}  // namespace

TEST_CASE("the interval is Young's, where a checkpoint takes little") {
    CHECK(best_interval(cost_of(0.01), 24 * hour) ==
          doctest::Approx(std::sqrt(2 * 0.01 * 24 * hour)).epsilon(0.01));
    // Four times the cost, half as often.
    CHECK(best_interval(cost_of(0.04), 24 * hour) / best_interval(cost_of(0.01), 24 * hour) ==
          doctest::Approx(2).epsilon(0.01));
}

TEST_CASE("checkpoints never take more than their share, and never lie closer than a disk writes") {
    for (const double mark_s : {0.01, 0.3, 0.77, 1.9, 50.0}) {
        CheckpointPace dear(100, 0);
        dear.took(cost_of(10));
        CHECK(10 / (static_cast<double>(dear.marks_apart(mark_s)) * mark_s) <=
              doctest::Approx(checkpoint_share_max).scale(0));
        CheckpointPace slow(hour, 0);
        slow.took({0.001, 0, 60});
        CHECK(static_cast<double>(slow.marks_apart(mark_s)) * mark_s >= 120);
    }
    CHECK(best_interval(cost_of(300), 100) == 100);  // nothing helps there
}

TEST_CASE(
    "what is lost to faults is hardly more than by the best fixed interval, for three rates") {
    constexpr double cost = 1;
    for (const double mtbf : {600.0, hour, 24 * hour}) {
        const std::vector<double> faults = faults_each(mtbf);
        double best = 1;
        for (double interval = 2; interval < 4 * mtbf; interval *= 1.03)
            best = std::min(best, lost_share(faults, interval, cost));
        for (double mark_s = 0.3; mark_s < 0.6; mark_s *= 1.05) {
            const double interval = mark_s * static_cast<double>(best_marks_apart(
                                                 best_interval(cost_of(cost), mtbf),
                                                 least_interval(cost_of(cost)), mark_s));
            CAPTURE(mtbf);
            CAPTURE(mark_s);
            CHECK(lost_share(faults, interval, cost) < 1.05 * best);
        }
    }
}

TEST_CASE("so many marks as come nearest to the interval") {
    CHECK(best_marks_apart(0, 0, 1) == 1);
    CHECK(best_marks_apart(5, 5, 0) == 1);  // marks at no distance: each
    CHECK(best_marks_apart(6.1, 0, 1) == 6);
    CHECK(best_marks_apart(6.1, 6.1, 1) == 8);
}

TEST_CASE("the first comes as soon as what it is expected to take is its share") {
    CheckpointPace pace(24 * hour, 480'000'000);
    const double least = least_interval(expected_cost(480'000'000));
    CHECK(least > 1);
    pace.has_trained(0.99 * least);
    CHECK_FALSE(pace.first_is_due());
    pace.has_trained(1.01 * least);
    CHECK(pace.first_is_due());
    CHECK(CheckpointPace(24 * hour, 0).first_is_due());
}

TEST_CASE("faults that were seen count as much as what was known before") {
    CheckpointPace pace(24 * hour, 0);
    CHECK(pace.mtbf() == doctest::Approx(24 * hour));
    CHECK_FALSE(pace.is_known());
    pace.knows(24 * hour, 3);
    CHECK(pace.mtbf() == doctest::Approx(12 * hour));
    pace.has_trained(48 * hour);
    CHECK(pace.mtbf() == doctest::Approx(24 * hour));
    pace.took(cost_of(0.02));
    REQUIRE(pace.is_known());
    const std::uint64_t before = pace.marks_apart(0.01);
    pace.took(cost_of(0.4));
    CHECK(pace.marks_apart(0.01) > before);
}

}  // namespace ako::checkpoint_pace_test
