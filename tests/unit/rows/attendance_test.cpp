// Which peers take part, by how much own steps are scaled, and what gives way when groups meet.
#include "src/rows/attendance.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace ako::attendance_test {

namespace {

constexpr Time ms = std::chrono::milliseconds(1);
constexpr Time patience = 2000 * ms;

/// Peer 0 of a cluster, which makes a round every 10 ms and hears what a test lets it hear.
struct Bench {
    explicit Bench(std::size_t peer_count)
        : count(peer_count), roster(0, peer_count), attendance(roster, patience) {}

    void present(PeerIndex peer, Presence presence = Presence::up) {
        roster.set_presence(peer, presence);
    }
    /// `from` says how far it and others are.
    void hear(PeerIndex from, const std::vector<Round>& rounds) {
        Status status;
        status.rows.resize(count);
        for (const Round made : rounds) status.standing.progress.push_back({made, made});
        roster.heard_status(from, status, now, round);
    }
    std::vector<Attendance::Return> next_round() {
        now += 10 * ms;
        ++round;
        roster.set_own(round, round);
        return attendance.look(now);
    }
    /// All others make rounds as this peer does, and are heard of.
    void train_together(int rounds) {
        for (int k = 0; k < rounds; ++k) {
            for (PeerIndex peer = 1; peer < count; ++peer) {
                std::vector<Round> all(count);
                all[peer] = round + 1;
                hear(peer, all);
            }
            CHECK(next_round().empty());
        }
    }

    const std::size_t count;
    Roster roster;
    Attendance attendance;
    Round round = 0;
    Time now = std::chrono::seconds(10);
};

/// What is left of the own growth when all these have given way, one after the other.
double kept(const std::vector<Attendance::Return>& returns) {
    double left = 1;
    for (const Attendance::Return& back : returns) left *= 1 - back.share;
    return left;
}

}  // namespace

TEST_CASE("with all there nothing is scaled, from the first round on") {
    Bench bench(4);
    for (const PeerIndex peer : {1u, 2u, 3u}) bench.present(peer);
    bench.attendance.begin(bench.now);
    CHECK(bench.attendance.scale() == 1);
    bench.train_together(20);
    CHECK(bench.attendance.scale() == 1);
}

TEST_CASE("who is absent is made up for by those who are there") {
    Bench bench(8);
    const Time start = bench.now;
    for (const PeerIndex peer : {1u, 2u, 3u, 4u, 5u}) bench.present(peer);
    bench.attendance.begin(bench.now);
    CHECK(bench.attendance.scale() == doctest::Approx(8.0 / 6));
    SUBCASE("a peer that is there and never makes a round counts for a while only") {
        while (bench.now < start + patience) {
            CHECK(bench.attendance.scale() == doctest::Approx(8.0 / 6));
            bench.next_round();
        }
        bench.next_round();
        CHECK(bench.attendance.scale() == 8);
    }
    SUBCASE("and longer where rounds take long") {
        for (int own = 1; own <= Roster::gap_min; ++own) {
            bench.now += patience;
            bench.next_round();
            CHECK(bench.attendance.scale() == doctest::Approx(8.0 / 6));
        }
        bench.now += patience;
        bench.next_round();
        CHECK(bench.attendance.scale() == 8);
    }
}

TEST_CASE("who is lost counts until its rounds have not moved for a while, who went does not") {
    Bench bench(4);
    for (const PeerIndex peer : {1u, 2u, 3u}) bench.present(peer);
    bench.attendance.begin(bench.now);
    bench.train_together(20);
    for (const PeerIndex peer : {1u, 2u, 3u}) bench.present(peer, Presence::lost);
    bench.next_round();
    CHECK(bench.attendance.scale() == 1);
    bench.present(2, Presence::gone);
    bench.present(3, Presence::left);
    bench.next_round();
    CHECK(bench.attendance.scale() == 2);
    bench.now += patience;
    for (int own = 0; own < 5; ++own) bench.next_round();
    CHECK(bench.attendance.scale() == 4);
}

TEST_CASE("a peer that is heard of through others only takes part, as long as it is") {
    Bench bench(3);
    bench.present(1);
    bench.present(2);
    bench.attendance.begin(bench.now);
    bench.train_together(5);
    bench.present(2, Presence::lost);
    for (int own = 0; own < 10; ++own) {
        bench.hear(1, {0, bench.round + 1, bench.round + 1});
        CHECK(bench.next_round().empty());
    }
    CHECK(bench.attendance.takes_part(2));
    CHECK(bench.attendance.scale() == 1);
    SUBCASE("news that comes seldom is enough") {
        bench.now += patience / 2;
        bench.hear(1, {0, bench.round + 1, bench.round});
        bench.next_round();
        CHECK(bench.attendance.takes_part(2));
    }
    SUBCASE("no news is not") {
        for (int own = 0; own < 10; ++own) {
            bench.hear(1, {0, bench.round + 1, 15});
            bench.next_round();
        }
        CHECK(bench.attendance.takes_part(2));  // by patience
        bench.now += patience;
        bench.next_round();
        CHECK(!bench.attendance.takes_part(2));
    }
}

TEST_CASE("one peer apart from three keeps a quarter, and they keep three quarters") {
    constexpr int rounds = 400;
    SUBCASE("the one, which hears of all three at once") {
        Bench bench(4);
        for (const PeerIndex peer : {1u, 2u, 3u}) bench.present(peer);
        bench.attendance.begin(bench.now);
        bench.train_together(20);
        for (const PeerIndex peer : {1u, 2u, 3u}) bench.present(peer, Presence::lost);
        for (int own = 0; own < rounds; ++own) CHECK(bench.next_round().empty());
        CHECK(bench.attendance.scale() == 4);
        bench.present(1);
        bench.hear(1, {20, 20 + rounds, 20 + rounds, 20 + rounds});
        const auto returns = bench.next_round();
        REQUIRE(returns.size() == 3);
        CHECK(returns[2].rounds == rounds);
        CHECK(kept(returns) == doctest::Approx(0.25).epsilon(0.01));
        CHECK(bench.attendance.scale() == 1);
    }
    SUBCASE("the one, which hears of them one by one") {
        Bench bench(4);
        for (const PeerIndex peer : {1u, 2u, 3u}) bench.present(peer);
        bench.attendance.begin(bench.now);
        bench.train_together(20);
        for (const PeerIndex peer : {1u, 2u, 3u}) bench.present(peer, Presence::lost);
        for (int own = 0; own < rounds; ++own) bench.next_round();
        std::vector<Attendance::Return> returns;
        for (const PeerIndex peer : {3u, 1u, 2u}) {
            bench.present(peer);
            std::vector<Round> made(4);
            made[peer] = 20 + rounds;
            bench.hear(peer, made);
            const auto more = bench.next_round();
            returns.insert(returns.end(), more.begin(), more.end());
        }
        CHECK(kept(returns) == doctest::Approx(0.25).epsilon(0.01));
    }
    SUBCASE("one of the three") {
        Bench bench(4);
        for (const PeerIndex peer : {1u, 2u, 3u}) bench.present(peer);
        bench.attendance.begin(bench.now);
        bench.train_together(20);
        bench.present(3, Presence::lost);
        for (int own = 0; own < rounds; ++own) {
            bench.hear(1, {0, bench.round + 1, 0, 20});
            bench.hear(2, {0, 0, bench.round + 1, 20});
            CHECK(bench.next_round().empty());
        }
        CHECK(bench.attendance.scale() == doctest::Approx(4.0 / 3));
        bench.present(3);
        bench.hear(3, {20, 20, 20, 20 + rounds});
        CHECK(kept(bench.next_round()) == doctest::Approx(0.75).epsilon(0.01));
        CHECK(bench.attendance.scale() == 1);
    }
}

TEST_CASE("two halves keep a half each, whoever of the other half is heard of first") {
    Bench bench(4);
    for (const PeerIndex peer : {1u, 2u, 3u}) bench.present(peer);
    bench.attendance.begin(bench.now);
    bench.train_together(20);
    for (const PeerIndex peer : {2u, 3u}) bench.present(peer, Presence::lost);
    for (int own = 0; own < 300; ++own) {
        bench.hear(1, {0, bench.round + 1, 20, 20});
        bench.next_round();
    }
    bench.present(3);
    bench.hear(3, {20, 20, 320, 320});  // of peer 2 too, which has no session here yet
    CHECK(kept(bench.next_round()) == doctest::Approx(0.5).epsilon(0.01));
}

TEST_CASE("who parted at different moments gives the shares of all rounds, whatever their places") {
    for (const PeerIndex first : {1u, 2u}) {
        const PeerIndex second = 3 - first;
        Bench bench(3);
        for (const PeerIndex peer : {1u, 2u}) bench.present(peer);
        bench.attendance.begin(bench.now);
        bench.train_together(100);
        const auto apart = [&](PeerIndex peer) { bench.present(peer, Presence::lost); };
        apart(first);
        for (int own = 0; own < 400; ++own) {
            std::vector<Round> made(3);
            made[second] = bench.round + 1;
            bench.hear(second, made);
            CHECK(bench.next_round().empty());
        }
        apart(second);
        for (int own = 0; own < 400; ++own) bench.next_round();
        bench.present(1);
        bench.hear(1, {500, 900, 900});  // each has made 800 rounds since the first went
        const auto returns = bench.next_round();
        REQUIRE(returns.size() == 2);
        // What was made alone is kept by one of three, what was made by two together by two.
        CHECK(returns[0].peer == second);
        CHECK(returns[0].share == doctest::Approx(1.0 / 2).epsilon(0.01));
        CHECK(returns[1].peer == first);
        CHECK(returns[1].share == doctest::Approx(1.0 / 3).epsilon(0.01));
    }
}

TEST_CASE("for a peer that stood still nothing gives way, and its own few rounds give way to all") {
    Bench bench(3);
    bench.present(1);
    bench.present(2);
    bench.attendance.begin(bench.now);
    bench.train_together(20);
    SUBCASE("the others") {
        bench.present(2, Presence::lost);
        for (int own = 0; own < 500; ++own) {
            bench.hear(1, {0, bench.round + 1, 20});
            bench.next_round();
        }
        bench.present(2);
        bench.hear(2, {20, 20, 21});
        CHECK(kept(bench.next_round()) > 0.998);
    }
    SUBCASE("itself, which made a few rounds before it heard of them") {
        bench.now += 60'000 * ms;
        for (int own = 0; own < 8; ++own) bench.next_round();
        bench.hear(1, {0, 520, 0});
        bench.hear(2, {0, 0, 520});
        const auto returns = bench.next_round();
        CHECK(returns.size() == 2);
        CHECK(kept(returns) < 0.02);
    }
}

TEST_CASE("what was known when it begins is no return") {
    Bench bench(3);
    bench.hear(1, {0, 900, 800});
    bench.roster.set_own(700, 700);
    bench.round = 700;
    bench.attendance.begin(bench.now);
    CHECK(bench.next_round().empty());
    bench.present(1);
    bench.hear(1, {0, 910, 800});
    const auto returns = bench.next_round();
    REQUIRE(returns.size() == 1);
    CHECK(returns[0].rounds == 10);
    CHECK(returns[0].share == doctest::Approx(10.0 / 12));
}

}  // namespace ako::attendance_test
