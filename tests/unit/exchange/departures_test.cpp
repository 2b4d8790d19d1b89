// Which peers were left behind, and which ones only lost others.
#include "src/exchange/departures.h"

#include <doctest/doctest.h>

namespace ako::departures_test {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
constexpr Time life = seconds(2);
constexpr Time grace = seconds(10);

/// Peer 0 of so many; it looks every 20 ms.
struct Bench {
    explicit Bench(std::size_t count) : peer_count(count), departures(count, life, grace) {
        for (PeerIndex peer = 1; peer < count; ++peer) departures.came(peer);
        pass(seconds(1));
    }
    void pass(Time time) {
        for (const Time end = now + time; now < end; now += milliseconds(20)) {
            departures.look(now);
            for (PeerIndex peer = 1; peer < peer_count; ++peer) {
                departures.dialled(peer, nobody_listens, now);
            }
        }
    }
    /// This process stands still.
    void pause(Time time) {
        now += time;
        departures.look(now);
    }
    /// In silence, unless said.
    void lose(PeerIndex peer, Time silence = life) { departures.went(peer, false, silence, now); }

    const std::size_t peer_count;
    Departures departures;
    Time now = seconds(50);
    bool nobody_listens = true;
};

}  // namespace

TEST_CASE("who lost all others at once, and finds nobody listening, was left behind") {
    Bench bench(3);
    bench.lose(1);
    bench.pass(seconds(1));
    bench.lose(2);
    bench.pass(grace - milliseconds(100));
    CHECK(!bench.departures.left_behind(bench.now));  // they may still dial
    bench.pass(seconds(2));
    CHECK(bench.departures.left_behind(bench.now));
    bench.departures.came(1);
    CHECK(!bench.departures.left_behind(bench.now));
}

TEST_CASE("who loses all others at once because they crash goes on") {
    Bench bench(3);
    bench.lose(1, milliseconds(300));
    bench.lose(2, milliseconds(300));
    bench.pass(seconds(100));
    CHECK(bench.departures.gone(1, bench.now));
    CHECK(bench.departures.gone(2, bench.now));
    CHECK(!bench.departures.left_behind(bench.now));
}

TEST_CASE("who is only cut off was not") {
    Bench bench(3);
    bench.nobody_listens = false;
    bench.lose(1);
    bench.lose(2);
    bench.pass(seconds(100));
    CHECK(!bench.departures.left_behind(bench.now));
    CHECK(!bench.departures.gone(1, bench.now));
}

TEST_CASE("who loses the others one by one goes on") {
    Bench bench(3);
    bench.lose(1);
    bench.pass(seconds(5));
    bench.lose(2);
    bench.pass(seconds(100));
    CHECK(bench.departures.gone(1, bench.now));
    CHECK(bench.departures.gone(2, bench.now));
    CHECK(!bench.departures.left_behind(bench.now));
}

TEST_CASE("a single other that is lost is a loss, but over a pause of this process") {
    Bench bench(2);
    SUBCASE("no pause") {
        bench.lose(1);
        bench.pass(seconds(100));
        CHECK(!bench.departures.left_behind(bench.now));
    }
    SUBCASE("a pause") {
        bench.pause(seconds(30));
        bench.pass(milliseconds(40));
        bench.lose(1);
        bench.pass(grace + seconds(1));
        CHECK(bench.departures.left_behind(bench.now));
    }
    SUBCASE("a pause long ago") {
        bench.pause(seconds(30));
        bench.pass(seconds(20));
        bench.lose(1);
        bench.pass(grace + seconds(1));
        CHECK(!bench.departures.left_behind(bench.now));
    }
}

TEST_CASE("a dial that is answered by somebody begins the grace anew") {
    Bench bench(3);
    bench.lose(1);
    bench.lose(2);
    bench.pass(seconds(8));
    bench.nobody_listens = false;
    bench.pass(milliseconds(40));
    bench.nobody_listens = true;
    bench.pass(seconds(8));
    CHECK(!bench.departures.left_behind(bench.now));
    bench.pass(seconds(3));
    CHECK(bench.departures.left_behind(bench.now));
}

TEST_CASE("a loss long before does not hide that the others went together") {
    Bench bench(4);
    bench.lose(1);
    bench.pass(seconds(100));
    CHECK(!bench.departures.left_behind(bench.now));
    bench.lose(2);
    bench.lose(3);
    bench.pass(grace + seconds(1));
    CHECK(bench.departures.left_behind(bench.now));
}

TEST_CASE("who crashed is gone before who fell silent, and not before it could come back") {
    Bench bench(3);
    bench.lose(1, milliseconds(100));
    bench.lose(2);
    const Time after = bench.departures.gone_after_crash();
    CHECK(after >= 2 * life);  // it may miss us only by our silence, and dial then
    CHECK(after < grace);
    bench.pass(after - milliseconds(100));
    CHECK(!bench.departures.gone(1, bench.now));
    bench.pass(milliseconds(200));
    CHECK(bench.departures.gone(1, bench.now));
    CHECK(!bench.departures.gone(2, bench.now));
    bench.pass(grace);
    CHECK(bench.departures.gone(2, bench.now));
}

TEST_CASE("who crashed while nobody refuses a dial is not gone") {
    Bench bench(3);
    bench.nobody_listens = false;
    bench.lose(1, milliseconds(100));
    bench.pass(grace + seconds(1));
    CHECK(!bench.departures.gone(1, bench.now));
}

TEST_CASE("to be left behind takes the whole grace, also of those who crash over a pause") {
    Bench bench(3);
    bench.pause(seconds(30));
    bench.pass(milliseconds(40));
    bench.lose(1, milliseconds(100));
    bench.lose(2, milliseconds(100));
    bench.pass(bench.departures.gone_after_crash() + milliseconds(100));
    CHECK(bench.departures.gone(1, bench.now));
    CHECK(bench.departures.gone(2, bench.now));
    CHECK(!bench.departures.left_behind(bench.now));
    bench.pass(grace);
    CHECK(bench.departures.left_behind(bench.now));
}

TEST_CASE("who left before the end has ended nothing: those who stay are not left behind") {
    Bench bench(4);
    SUBCASE("all others leave at once") {
        for (const PeerIndex peer : {1, 2, 3}) {
            bench.departures.left_early(peer);
            bench.departures.went(peer, true, milliseconds(10), bench.now);
        }
        bench.pass(grace + seconds(1));
        CHECK(bench.departures.gone(1, bench.now));
        CHECK(!bench.departures.left_behind(bench.now));
    }
    SUBCASE("one leaves long before the others end together") {
        bench.departures.left_early(1);
        bench.departures.went(1, true, milliseconds(10), bench.now);
        bench.pass(seconds(100));
        CHECK(!bench.departures.left_behind(bench.now));
        for (const PeerIndex peer : {2, 3})
            bench.departures.went(peer, true, milliseconds(10), bench.now);
        bench.pass(grace + seconds(1));
        CHECK(bench.departures.left_behind(bench.now));
    }
}

}  // namespace ako::departures_test
