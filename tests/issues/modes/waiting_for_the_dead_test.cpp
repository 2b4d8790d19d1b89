// After a loss near the end, the others stayed finish_linger_s (10 s) for a peer whose process was
// over, and the outcome called that a final exchange of 0.00 s. Now a peer whose connection broke,
// and where nobody has listened since for as long as it may take to come back (twice the life
// time-out and a second), is gone; who only fell silent is still
// waited for; and the report says what the time went into, and for whom.
#include <doctest/doctest.h>

#include "tests/fakes/virtual_cluster.h"

namespace ako::waiting_for_the_dead_test {

using test::VirtualCluster;

namespace {

constexpr PeerIndex victim = 3;
constexpr double life_s = 2;
constexpr double back_s = 2 * life_s + 1;

/// Four peers; the last one dies as soon as somebody has made its last round.
struct Bench {
    explicit Bench(bool silently) : cluster(4, 4) {
        cluster.finishing = [this, silently](PeerIndex) {
            if (!std::exchange(struck, true)) cluster.kill(victim, silently);
        };
        REQUIRE(cluster.run(std::chrono::seconds(100)));
    }
    /// All that a survivor's end took; checks that its report says the same.
    double took(PeerIndex peer) {
        const FinishReport& report = *cluster[peer].report;
        CHECK_MESSAGE(report.agreed, report.why_not);
        CHECK(report.lost == std::vector<PeerIndex>{victim});
        CHECK(report.waited_for == std::vector<PeerIndex>{victim});
        const double seconds = cluster.seconds(peer);
        const double told = report.seconds + report.waiting_seconds + report.serving_seconds;
        CHECK(told == doctest::Approx(seconds).epsilon(0.1));
        CHECK(report.serving_seconds < 1);
        return seconds;
    }

    bool struck = false;
    VirtualCluster cluster;
};

}  // namespace

TEST_CASE("issue: nobody stays at the end for a process that is over") {
    Bench bench(false);
    for (const PeerIndex peer : {0, 1, 2}) {
        const double seconds = bench.took(peer);
        CHECK(bench.cluster[peer].report->seconds < 1);
        // The cut took the life time-out, in which a last round of the dead might have come.
        CHECK(bench.cluster[peer].report->after_seconds < back_s - life_s + 1);
        CHECK(seconds > back_s);  // only its connection may have broken
        CHECK(seconds < back_s + 1);
    }
}

TEST_CASE("issue: who vanished with its machine is waited for, and the report says so") {
    Bench bench(true);
    const double linger_s =
        std::chrono::duration<double>(bench.cluster.settings.times().finish_linger).count();
    for (const PeerIndex peer : {0, 1, 2}) {
        const double seconds = bench.took(peer);
        CHECK(seconds > linger_s);
        // That it is silent, nobody knows at first.
        CHECK(bench.cluster[peer].report->seconds < life_s + 1);
        CHECK(bench.cluster[peer].report->waiting_seconds > linger_s - 1);
        CHECK(bench.cluster[peer].report->after_seconds > linger_s - 1);
    }
}

TEST_CASE("issue: an end without losses is all final exchange and serving") {
    VirtualCluster cluster(3, 98);
    cluster.set_mbit(0, 2, 5);
    cluster.set_mbit(1, 2, 5);
    REQUIRE(cluster.run(std::chrono::seconds(100)));
    for (const PeerIndex peer : {0, 1, 2}) {
        const FinishReport& report = *cluster[peer].report;
        CHECK(report.waited_for.empty());
        CHECK(report.waiting_seconds == 0);
    }
    CHECK(cluster[0].report->serving_seconds > 0.5 * cluster[2].report->seconds);
}

}  // namespace ako::waiting_for_the_dead_test
