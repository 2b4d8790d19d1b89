// What comes of a flood per second.
#include "src/probe/flood_meter.h"

#include <doctest/doctest.h>

namespace ako::flood_meter_test {

using namespace std::chrono_literals;

TEST_CASE("what comes while a connection finds its pace is left out") {
    FloodMeter meter(500ms);
    CHECK(meter.bytes_per_s() == 0);
    for (Time at = 1s; at <= 1500ms; at += 100ms) meter.take(10, at);
    CHECK(meter.bytes_per_s() == doctest::Approx(100));
    for (Time at = 1600ms; at <= 3s; at += 100ms) meter.take(100, at);
    CHECK(meter.bytes_per_s() == doctest::Approx(1000));
    meter.begin();
    CHECK(meter.bytes_per_s() == 0);
}

TEST_CASE("of a slow link what little comes counts") {
    FloodMeter meter(500ms);
    meter.take(1000, 1s);
    CHECK(meter.bytes_per_s() == 0);  // nobody knows how long that took
    meter.take(1000, 3s);
    CHECK(meter.bytes_per_s() == doctest::Approx(500));
}

}  // namespace ako::flood_meter_test
