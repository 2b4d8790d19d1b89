// Another peer's clock under queueing and drift.
#include "src/exchange/clock_offset.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace ako::clock_offset_test {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

double ms(Time time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// Two clocks and the ways between them, with queueing that comes and goes.
struct Pair {
    Time ahead;  ///< their clock less ours
    Time transit;
    std::mt19937_64 random{5};
    Time now{seconds(1000)};
    ClockOffset offset{};

    Time way() {
        // Most are queued for a while, some hardly.
        const double queued = -std::log(1 - static_cast<double>(random() >> 11) * 0x1p-53) * 30;
        return transit + microseconds(static_cast<std::int64_t>(1000 * queued));
    }
    void exchange(int count) {
        for (int k = 0; k < count; ++k) {
            now += milliseconds(50);
            const Time theirs = now + ahead;
            const Time forth = way();
            offset.add_arrival(theirs, now + forth);
            offset.add_round_trip(forth + way());
        }
    }
    double error() const { return ms(*offset.to_local(now + ahead) - now); }
};

}  // namespace

TEST_CASE("nothing is known before the first Status") {
    ClockOffset offset{};
    CHECK(!offset.to_local(seconds(1)));
    CHECK(!offset.round_trip());
    offset.add_round_trip(milliseconds(10));
    CHECK(!offset.to_local(seconds(1)));
    CHECK(offset.round_trip() == milliseconds(10));
}

TEST_CASE("one exchange without queueing gives the exact moment") {
    ClockOffset offset{};
    offset.add_arrival(seconds(500), seconds(20) + milliseconds(7));
    offset.add_round_trip(milliseconds(14));
    CHECK(offset.to_local(seconds(500)) == seconds(20));
    CHECK(offset.to_local(seconds(501)) == seconds(21));
    offset.add_round_trip(-milliseconds(100));  // an echo that makes no sense changes nothing
    CHECK(offset.to_local(seconds(500)) == seconds(20));
}

TEST_CASE("offset and transit are found under noise ten times as large") {
    for (const Time ahead : {Time(seconds(-700)), Time(0), Time(seconds(86'400))}) {
        CAPTURE(ahead.count());
        Pair pair{ahead, milliseconds(40)};
        pair.exchange(200);
        CHECK(std::abs(pair.error()) < 3);
        CHECK(ms(*pair.offset.round_trip()) == doctest::Approx(80).epsilon(0.1));
    }
}

TEST_CASE("a drift of the clocks is followed within two windows") {
    Pair pair{seconds(3), milliseconds(2)};
    pair.exchange(100);
    CHECK(std::abs(pair.error()) < 3);
    pair.ahead -= milliseconds(500);  // it must forget the minimum it has seen
    const int per_window = static_cast<int>(ClockOffset::window / milliseconds(50));
    pair.exchange(2 * per_window + 4);
    CHECK(std::abs(pair.error()) < 3);
}

}  // namespace ako::clock_offset_test
