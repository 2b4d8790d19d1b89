// How often checkpoints pay, by formula and against simulated faults.
#include "src/training/checkpoint_pace.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
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
        for (const MarksApart which : {MarksApart::few, MarksApart::powers}) {
            CheckpointPace dear(100);
            dear.took(cost_of(10));
            CHECK(10 / (static_cast<double>(dear.marks_apart(mark_s, which)) * mark_s) <=
                  doctest::Approx(checkpoint_share_max).scale(0));
            CheckpointPace slow(hour);
            slow.took({0.001, 0, 60});
            CHECK(static_cast<double>(slow.marks_apart(mark_s, which)) * mark_s >= 120);
        }
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
            for (const auto& [which, more] :
                 {std::pair(MarksApart::few, 1.05), std::pair(MarksApart::powers, 1.14)}) {
                const double interval = mark_s * static_cast<double>(best_marks_apart(
                                                     best_interval(cost_of(cost), mtbf),
                                                     least_interval(cost_of(cost)), mark_s, which));
                CAPTURE(mtbf);
                CAPTURE(mark_s);
                CHECK(lost_share(faults, interval, cost) < more * best);
            }
        }
    }
}

TEST_CASE("any two peers meet as often as the one that makes fewer checkpoints") {
    CHECK(best_marks_apart(0, 0, 1, MarksApart::few) == 1);
    CHECK(best_marks_apart(5, 5, 0, MarksApart::few) == 1);
    CHECK(best_marks_apart(6.1, 0, 1, MarksApart::few) == 6);
    for (double interval = 1; interval < 3000; interval *= 1.1)
        CHECK(std::has_single_bit(best_marks_apart(interval, 0, 1, MarksApart::powers)));
}

TEST_CASE("faults that were seen count as much as what was known before") {
    CheckpointPace pace(24 * hour);
    CHECK(pace.mtbf() == doctest::Approx(24 * hour));
    CHECK_FALSE(pace.is_known());
    pace.knows(24 * hour, 3);
    CHECK(pace.mtbf() == doctest::Approx(12 * hour));
    pace.has_trained(48 * hour);
    CHECK(pace.mtbf() == doctest::Approx(24 * hour));
    pace.took(cost_of(0.02));
    REQUIRE(pace.is_known());
    const std::uint64_t before = pace.marks_apart(0.01, MarksApart::few);
    pace.took(cost_of(0.4));
    CHECK(pace.marks_apart(0.01, MarksApart::few) > before);
}

}  // namespace ako::checkpoint_pace_test
