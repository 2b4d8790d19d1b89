// How often a cycle over the vector is worth its cost.
#include "src/rows/partition_bound.h"

#include <doctest/doctest.h>

#include <cmath>

namespace ako::partition_bound_test {

namespace {

constexpr Time ms = std::chrono::milliseconds(1);
constexpr std::size_t million = 4'000'000;  // bytes of a vector of so many parameters

struct Bench {
    void rounds(int count, Time taken, Time used) {
        for (int k = 0; k < count; ++k) {
            bound.sent(sent, sent);
            bound.begin_round(++round, now += taken, spent += used);
        }
    }

    PartitionBound bound{4, million, false};
    std::size_t sent = 0;  ///< in a round
    Round round = 0;
    Time now = std::chrono::seconds(5);
    Time spent = 70 * ms;
};

/// By the formula in the header, in seconds.
double best(double compute, double peers = 4, double bytes = million) {
    const double cost = PartitionBound::seconds_per_byte * (peers - 1) * bytes / compute;
    return std::sqrt(cost / PartitionBound::rounds_per_partition);
}

}  // namespace

TEST_CASE("before it is known, and where nobody measures, half a vector a round goes out") {
    Bench bench;
    CHECK(bench.bound.partitions() == 6);
    bench.rounds(static_cast<int>(PartitionBound::rounds_kept), 100 * ms, 60 * ms);
    CHECK(bench.bound.partitions() == 6);  // so many rounds lie between one more
    bench.rounds(1, 100 * ms, 60 * ms);
    CHECK(bench.bound.partitions() == doctest::Approx(best(0.06)));

    Bench unmeasured;
    unmeasured.spent = Time{0};
    unmeasured.rounds(100, 100 * ms, Time{0});
    CHECK(unmeasured.bound.partitions() == 6);
    CHECK(PartitionBound(1, million, false).partitions() == 1);
}

TEST_CASE("it follows the processor time of a round, and an evaluation now and then is no round") {
    Bench bench;
    for (int k = 0; k < 10; ++k) {
        bench.rounds(9, 50 * ms, 40 * ms);
        bench.rounds(1, 2000 * ms, 2000 * ms);
    }
    CHECK(bench.bound.partitions() == doctest::Approx(best(0.04)));
    bench.rounds(20, 200 * ms, 160 * ms);
    CHECK(bench.bound.partitions() == doctest::Approx(best(0.16)));
    bench.rounds(20, 200 * ms, 160'000 * ms);
    CHECK(bench.bound.partitions() == 1);
}

TEST_CASE("rounds that nobody saw lie between two that are seen") {
    Bench bench;
    for (int k = 0; k < 40; ++k) {
        ++bench.round;
        bench.rounds(1, 100 * ms, 60 * ms);  // of two rounds together
    }
    CHECK(bench.bound.partitions() == doctest::Approx(best(0.03)));
}

TEST_CASE("what the exchange takes is no part of what it is compared with") {
    Bench bench;
    bench.sent = 3 * million / 6;
    // 8 ms of the 60 are those bytes'.
    bench.rounds(40, 100 * ms, 60 * ms);
    CHECK(bench.bound.partitions() == doctest::Approx(best(0.052)));
    // Coded in a quarter: a tenth of 8 ms as before, and a quarter of the rest.
    Bench coded;
    for (int k = 0; k < 40; ++k) {
        coded.bound.sent(bench.sent, bench.sent / 4);
        coded.rounds(1, 100 * ms, 60 * ms);
    }
    CHECK(coded.bound.partitions() == doctest::Approx(best(0.06 - 0.0008 - 0.0018)));
    // At most half is taken for the exchange's.
    bench.rounds(40, 100 * ms, 10 * ms);
    CHECK(bench.bound.partitions() == doctest::Approx(best(0.005)));
}

TEST_CASE("a processor that idles counts as half busy where it may wait for another device") {
    Bench limited;
    limited.rounds(40, 1000 * ms, 1 * ms);
    CHECK(limited.bound.partitions() == doctest::Approx(best(0.001)));
    Bench waiting{PartitionBound(4, million, true)};
    waiting.rounds(40, 1000 * ms, 1 * ms);
    CHECK(waiting.bound.partitions() == doctest::Approx(best(0.5)));
}

}  // namespace ako::partition_bound_test
