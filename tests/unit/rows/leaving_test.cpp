// Peers that leave on purpose while others go on: their rows are whole at those who stay, nobody
// takes them for lost, and where nobody stays they end together.
#include "src/rows/leaving.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/contains.h"
#include "tests/fakes/virtual_cluster.h"
#include "tests/sanitized.h"
#include "tests/sim/world.h"

namespace ako::leaving_test {

using test::contains;
using test::ms;
using test::VirtualCluster;

namespace {

/// So many peers, which make about 100 rounds of 10 ms each; SIGTERM comes to those that are asked.
struct Bench {
    Bench(std::size_t count, std::size_t blocks) : cluster(count, blocks) {
        cluster.settings.sample_budget = 100 * count;
        cluster.settings.leaves = [] { return true; };
    }
    /// About so many rounds of all together, of 40 ms: where rows are large, what a round computes
    /// is all that a test takes, and what is looked at are seconds of a link.
    void make_long_rounds(std::uint64_t rounds) {
        cluster.round_time = ms(40);
        cluster.settings.sample_budget = rounds;
    }
    void ask(PeerIndex peer, Time at) {
        cluster.world.at(at, [this, peer] { cluster[peer].interrupts = 1; });
    }
    void run() { REQUIRE(cluster.run(std::chrono::seconds(200))); }

    const FinishReport& report(PeerIndex peer) { return *cluster[peer].report; }
    /// It left, and these hold all of its row.
    void check_left(PeerIndex peer, const std::vector<PeerIndex>& handed_to) {
        const FinishReport& left = report(peer);
        CHECK(left.left);
        CHECK(!left.agreed);
        CHECK(left.handed_to == handed_to);
        REQUIRE(!left.left_early.empty());
        CHECK(left.left_early.back().peer == peer);
        CHECK(left.left_early.back().round == left.rounds);
    }
    /// It finished with all of these, which have each other's rows and those of `gone` up to the
    /// last round.
    void check_finished(const std::vector<PeerIndex>& together, PeerIndex gone) {
        for (const PeerIndex peer : together) {
            const FinishReport& end = report(peer);
            CHECK_MESSAGE(end.agreed, end.why_not);
            CHECK(end.finished_with == together);
            CHECK(end.digest == report(together.front()).digest);
            CHECK(end.lost.empty());
            REQUIRE(end.left_early.size() == 1);
            CHECK(end.left_early[0].peer == gone);
            CHECK(end.left_early[0].round == report(gone).rounds);
            CHECK(end.left_early[0].progress > 0.1);
            CHECK(end.left_early[0].progress < 0.9);
            const RowHeld row = cluster[peer].half.rows().ledger().held(row_of(gone));
            CHECK(row.lowest == row.highest);
            CHECK(row.lowest.round == report(gone).rounds);
        }
    }
    double seconds_of_leaving(PeerIndex peer) { return report(peer).seconds; }

    VirtualCluster cluster;
};

}  // namespace

TEST_CASE("a peer leaves: the others hold its row to the last round, and train to the end") {
    Bench bench(4, 8);
    bench.ask(1, ms(500));
    bench.run();
    bench.check_left(1, {0, 2, 3});
    bench.check_finished({0, 2, 3}, 1);
    CHECK(bench.report(1).rounds > 20);
    CHECK(bench.report(1).rounds < 60);
    CHECK(bench.seconds_of_leaving(1) < 1);
    CHECK(bench.report(0).samples_total >= 400);  // the others made what it would have made
    CHECK(!bench.report(0).stopped_early());
}

TEST_CASE("the rest of a row takes the time that its link needs, and no more") {
    Bench bench(3, 32);  // 32 x 16 KiB = 4.2 Mbit
    bench.cluster.set_mbit(2, 0, 2);
    bench.cluster.set_mbit(2, 1, 2);
    bench.ask(2, ms(500));
    bench.make_long_rounds(500);
    bench.run();
    bench.check_left(2, {0, 1});
    CHECK(bench.seconds_of_leaving(2) > 0.9);
    CHECK(bench.seconds_of_leaving(2) < 3);
}

TEST_CASE("others whose rounds are longer than the patience are waited for") {
    Bench bench(3, 8);
    bench.cluster.round_time = ms(6000);
    bench.cluster.settings.sample_budget = 30;
    bench.ask(1, ms(32'000));
    bench.run();
    bench.check_left(1, {0, 2});
    bench.check_finished({0, 2}, 1);
}

TEST_CASE("where the time is too short for the row, those who stay put it together") {
    Bench bench(3, 32);
    bench.cluster.set_mbit(2, 0, 1);
    bench.cluster.set_mbit(2, 1, 1);
    bench.cluster.settings.exchange.leave_timeout_s = 3;  // of the 4.2 s that it takes
    bench.make_long_rounds(750);
    bench.ask(2, ms(500));
    bench.run();
    CHECK(bench.report(2).left);
    CHECK(bench.report(2).handed_to.empty());
    CHECK(bench.seconds_of_leaving(2) == doctest::Approx(3).epsilon(0.1));
    bench.check_finished({0, 1}, 2);
}

TEST_CASE("where too few stay to agree, who leaves waits for others to say so, and then says it") {
    Bench bench(3, 8);
    std::vector<std::string> lines;
    bench.cluster.settings.log = [&lines](const std::string& line) { lines.push_back(line); };
    bench.cluster.settings.sample_budget = 3000;
    bench.ask(0, ms(500));
    bench.ask(1, ms(5000));
    bench.run();
    bench.check_left(0, {1, 2});
    CHECK(bench.seconds_of_leaving(0) < 1);
    bench.check_left(1, {2});
    CHECK(bench.seconds_of_leaving(1) >= 2);  // life_timeout_ms
    CHECK(!bench.report(2).agreed);
    CHECK(std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
              return contains(line, "too few stay to agree at the end: that needs 2 of the 3");
          }) == 1);
    CHECK(std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
              return contains(line, "has left, and the run goes on");
          }) == 3);  // of 0 at both others, of 1 at the last
}

TEST_CASE("a peer that hangs holds up nobody who leaves") {
    Bench bench(3, 8);
    bench.cluster.world.at(ms(300), [&] { bench.cluster.hang(0); });
    bench.cluster.settings.sample_budget = 1000;
    bench.ask(1, ms(500));
    bench.run();
    bench.check_left(1, {2});
    CHECK(bench.seconds_of_leaving(1) < 3);
}

TEST_CASE("all are asked to leave: they end together") {
    for (const Time apart : {ms(0), ms(3), ms(20)}) {
        Bench bench(4, 8);
        for (const PeerIndex peer : {0, 1, 2, 3}) bench.ask(peer, ms(500) + peer * apart);
        bench.run();
        std::vector<PeerIndex> together;
        for (const PeerIndex peer : {0, 1, 2, 3}) {
            if (!bench.report(peer).left) together.push_back(peer);
        }
        REQUIRE(!together.empty());
        for (const PeerIndex peer : together) {
            const FinishReport& end = bench.report(peer);
            CHECK_MESSAGE(end.agreed, end.why_not);
            CHECK(end.finished_with == together);
            CHECK(end.stopped_early());
            CHECK(end.seconds < 3);
        }
    }
}

TEST_CASE("who is asked to leave when another stops the run ends with all") {
    Bench bench(3, 8);
    bench.ask(0, ms(500));
    bench.cluster.set_mbit(0, 1, 0.5);  // it takes long
    bench.cluster.world.at(ms(600),
                           [&] { bench.cluster[2].exchange.request_stop(StopReason::requested); });
    bench.run();
    for (const PeerIndex peer : {0, 1, 2}) {
        CHECK_MESSAGE(bench.report(peer).agreed, bench.report(peer).why_not);
        CHECK(bench.report(peer).finished_with == std::vector<PeerIndex>{0, 1, 2});
        CHECK(bench.report(peer).asked == std::vector<PeerIndex>{2});
        CHECK(!bench.report(peer).left);
    }
}

TEST_CASE("who leaves hands on what only it has of those that left before") {
    Bench bench(4, 8);
    // Peer 0 reaches peer 1 alone in time; peer 1 leaves after it.
    bench.cluster.set_mbit(0, 2, 0.05);
    bench.cluster.set_mbit(0, 3, 0.05);
    bench.cluster.settings.exchange.leave_timeout_s = 1;
    bench.cluster.settings.sample_budget = 2000;
    bench.ask(0, ms(500));
    bench.ask(1, ms(2000));
    bench.run();
    CHECK(bench.report(0).left);
    CHECK(bench.report(0).handed_to == std::vector<PeerIndex>{1});
    CHECK(bench.report(1).left);
    for (const PeerIndex peer : {2, 3}) {
        for (const PeerIndex gone : {0, 1}) {
            const RowHeld row = bench.cluster[peer].half.rows().ledger().held(row_of(gone));
            CHECK(row.lowest == row.highest);
            CHECK(row.lowest.round == bench.report(gone).rounds);
        }
    }
}

TEST_CASE("asked before anybody has trained, it gives up alone, and asked alone it stops for all") {
    Bench bench(1, 1);
    bench.ask(0, ms(200));
    bench.run();
    CHECK(!bench.report(0).left);
    CHECK(bench.report(0).agreed);
    CHECK(bench.report(0).stopped_early());
}

namespace {

/// Five peers on links of any rate, which lose a frame now and then. Two leave, or one does and
/// another dies, at any moment.
struct Weather {
    explicit Weather(std::uint64_t seed) : bench(5, 2), random(seed) {
        for (PeerIndex from = 0; from < 5; ++from) {
            for (PeerIndex to = 0; to < 5; ++to) {
                bench.cluster.set_mbit(from, to, random.chance(0.3) ? random.real(1, 10) : 200);
                bench.cluster.network.quality(from, to).loss = random.chance(0.2) ? 0.005 : 0;
            }
        }
        first = static_cast<PeerIndex>(random.below(5));
        second = static_cast<PeerIndex>((first + random.between(1, 4)) % 5);
        const Time at = random.time(ms(100), ms(1100));
        const Time apart = random.chance(0.5) ? random.time(ms(0), ms(30)) : ms(300);
        bench.ask(first, at);
        dies = random.chance(0.4);
        if (dies) {
            bench.cluster.world.at(at + apart, [this] {
                // Later it may have finished with the others.
                if (bench.cluster[second].state != sim::SimPeer::State::training) return;
                bench.cluster.kill(second, false);
            });
        } else {
            bench.ask(second, at + apart);
        }
        bench.run();
        for (PeerIndex peer = 0; peer < 5; ++peer) {
            if (!bench.cluster[peer].report) continue;  // it died
            (bench.report(peer).left ? left : together).push_back(peer);
        }
    }

    /// Where it was handed over to one that stayed, all who stayed have it to the last round.
    bool is_whole(PeerIndex gone) {
        const FinishReport& report = bench.report(gone);
        bool handed_over = false;
        for (const PeerIndex peer : report.handed_to) {
            handed_over = handed_over || std::count(together.begin(), together.end(), peer) > 0;
        }
        return !handed_over || std::all_of(together.begin(), together.end(), [&](PeerIndex peer) {
            const RowHeld row = bench.cluster[peer].half.rows().ledger().held(row_of(gone));
            return row.lowest == row.highest && row.lowest.round == report.rounds;
        });
    }

    Bench bench;
    sim::Random random;
    PeerIndex first = 0;
    PeerIndex second = 0;
    bool dies = false;
    std::vector<PeerIndex> left;
    std::vector<PeerIndex> together;
};

}  // namespace

TEST_CASE("peers leave at any moment, and another may die: those who stay agree, with their rows") {
    std::size_t handed_over = 0;
    const std::uint64_t seeds = test::sanitized ? 6 : 60;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        CAPTURE(seed);
        Weather weather(seed);
        REQUIRE(weather.together.size() >= 3);
        for (const PeerIndex peer : weather.together) {
            const FinishReport& end = weather.bench.report(peer);
            CHECK_MESSAGE(end.agreed, end.why_not);
            CHECK(end.finished_with == weather.together);
            CHECK(end.digest == weather.bench.report(weather.together.front()).digest);
            CHECK(std::count(end.lost.begin(), end.lost.end(), weather.first) == 0);
        }
        for (const PeerIndex peer : weather.left) {
            CHECK(!weather.bench.report(peer).agreed);
            CHECK(weather.is_whole(peer));
            handed_over += weather.bench.report(peer).handed_to.empty() ? 0 : 1;
        }
    }
    CHECK(handed_over > seeds * 5 / 6);  // else little was checked
}

TEST_CASE(
    "the row of a peer that is on its way back is handed on, for that has it from the others") {
    const Blocks blocks{8, 4};
    Snapshots own(blocks);
    Ledger ledger{0, 3, blocks};
    ledger.set_own(own[0]);
    const std::vector<float> values(4, 1.0F);
    for (BlockIndex block = 0; block < blocks.count(); ++block)
        ledger.replace(2, block, {9, 5}, values, crc32c(std::span<const float>(values)));
    Roster roster{0, 3};
    const auto says = [&](PeerIndex peer, bool joins, bool holds_row_2) {
        Status status;
        status.standing.progress.resize(3);
        for (const RowIndex row : ledger.all()) status.rows.push_back(ledger.held(row));
        if (!holds_row_2) status.rows[row_of(2)] = {};
        status.start.joining = joins;
        roster.set_presence(peer, Presence::up);
        roster.heard_status(peer, status, ms(1000), 1);
    };
    const auto may_go = [&] {
        return Leaving(ledger, roster, ms(2000), ms(25'000), ms(0)).step(ms(2100));
    };
    says(1, false, false);
    says(2, false, true);
    CHECK(may_go());  // peer 2 is there with its row
    says(2, true, false);
    CHECK_FALSE(may_go());
    says(1, false, true);
    says(2, true, true);
    CHECK(may_go());
}

}  // namespace ako::leaving_test
