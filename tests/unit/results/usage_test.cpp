// A window over samples: shares of the time, and what is left when counts fall.
#include "src/results/usage.h"

#include <doctest/doctest.h>

namespace ako::usage_test {

namespace {

UsageSample sample_at(double seconds) {
    UsageSample sample;
    sample.time = seconds;
    sample.rounds = static_cast<std::uint64_t>(20 * seconds);
    sample.gradient_seconds = 0.5 * seconds;
    sample.input_seconds = 0.1 * seconds;
    sample.wait_seconds = 0.3 * seconds;
    sample.process.this_thread = {0.25 * seconds, 0.4 * seconds};
    sample.process.other_threads = {0.05 * seconds, 0.02 * seconds};
    sample.process.throttled_seconds = 0.35 * seconds;
    sample.process.major_faults = static_cast<std::uint64_t>(7 * seconds);
    sample.links = {{0.9 * seconds, static_cast<std::uint64_t>(250'000 * seconds), 2 * seconds,
                     seconds}};
    return sample;
}

}  // namespace

TEST_CASE("of one sample nothing is known") {
    UsageWindow window;
    CHECK(window.usage().seconds == 0);
    CHECK(window.links().empty());
    window.add(sample_at(1));
    CHECK(window.usage().seconds == 0);
    REQUIRE(window.links().size() == 1);
    CHECK(window.links()[0].full == 0);
}

TEST_CASE("shares are of the newest ten seconds") {
    UsageWindow window;
    window.add(UsageSample{});  // will be too old
    window.add(UsageSample{0.5, 0, 0, 0, 0, {}, {{0, 0, 900, 0}}});
    for (int second = 10; second <= 20; ++second) window.add(sample_at(second));
    const Usage usage = window.usage();
    CHECK(usage.seconds == doctest::Approx(10));
    CHECK(usage.rounds_per_s == doctest::Approx(20));
    CHECK(usage.gradient == doctest::Approx(0.5));
    CHECK(usage.input == doctest::Approx(0.1));
    CHECK(usage.wait == doctest::Approx(0.3));
    CHECK(usage.compute_running == doctest::Approx(0.25));
    CHECK(usage.compute_runnable == doctest::Approx(0.4));
    CHECK(usage.network_running == doctest::Approx(0.05));
    CHECK(usage.network_runnable == doctest::Approx(0.02));
    CHECK(usage.throttled == doctest::Approx(0.35));
    CHECK(usage.major_faults_per_s == doctest::Approx(7));
    const LinkUsage link = window.links().at(0);
    CHECK(link.full == doctest::Approx(0.9));
    CHECK(link.egress_mbit == doctest::Approx(2));
    CHECK(link.round_trip_ms == doctest::Approx(30));
    CHECK(link.staleness_rounds == doctest::Approx(15));
}

TEST_CASE("of rounds that are long two are looked at, however long that is") {
    UsageWindow window;
    for (int second = 0; second <= 100; ++second) {
        UsageSample sample = sample_at(second);
        sample.rounds = static_cast<std::uint64_t>(second) / 20;
        window.add(sample);
    }
    CHECK(window.usage().seconds == doctest::Approx(21));  // 79 to 100: rounds 3 to 5
    CHECK(window.usage().rounds_per_s == doctest::Approx(2.0 / 21));
}

TEST_CASE("a thread that ended takes its time along, and a link is never more than full") {
    UsageWindow window;
    window.add(sample_at(1));
    UsageSample later = sample_at(2);
    later.process.other_threads = {};
    later.links[0].full_seconds = 9;
    later.process.throttled_seconds = 9;
    window.add(later);
    CHECK(window.usage().network_running == 0);
    CHECK(window.links()[0].full == 1);
    CHECK(window.usage().throttled == 1);
}

}  // namespace ako::usage_test
