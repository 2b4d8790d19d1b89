// Peers in virtual time whose chooser tries waiting, and keeps it where it costs little.
#include "src/rows/staleness_choice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace ako::staleness_choice_test {

namespace {

using Seconds = std::chrono::duration<double>;

/// A cluster as peer 0 hears of it: each makes its rounds in its own time where nobody waits, and
/// in that of the slowest that is waited for, times what waiting costs, where they do.
struct Cluster {
    explicit Cluster(std::vector<double> of_each) : round_s(std::move(of_each)) {
        made.assign(round_s.size(), 0);
        for (PeerIndex peer = 1; peer < round_s.size(); ++peer)
            roster.set_presence(peer, Presence::up);
        roster.set_own(0, 0);
    }

    void run(double seconds) {
        constexpr double step = 5e-3;
        for (double passed = 0; passed < seconds; passed += step) {
            now += std::chrono::duration_cast<Time>(Seconds(step));
            const Waits& waits = choice.waits();
            if (waits.rounds_max > 0) waited_s += step;
            double slowest = 0;
            for (PeerIndex peer = 0; peer < round_s.size(); ++peer)
                if ((waits.left_out & peer_bit(peer)) == 0 && roster.reachable(peer))
                    slowest = std::max(slowest, round_s[peer]);
            for (PeerIndex peer = 0; peer < round_s.size(); ++peer) {
                const bool waited = waits.rounds_max > 0 && (waits.left_out & peer_bit(peer)) == 0;
                made[peer] += step / (waited ? slowest * waiting_costs : round_s[peer]);
                if (roster[peer].presence != Presence::up) continue;
                const auto rounds = static_cast<Round>(made[peer]);
                heard(peer, rounds);
            }
            const double round = slowest * waiting_costs;
            for (PeerIndex peer = 0; peer < round_s.size(); ++peer) {
                const bool waits_too = waits.between(0, peer);
                const double waited = waits_too ? 10 * (round - round_s[peer]) / round : 0;
                if (peer == 0)
                    choice.set_waited(static_cast<std::uint8_t>(waited));
                else if (roster.reachable(peer))
                    says(peer, [&](Status& said) {
                        said.waited_tenths = static_cast<std::uint8_t>(waited);
                        said.keeps_step = peer != unwilling;
                    });
            }
            choice.look(now);
        }
    }
    void heard(PeerIndex peer, Round rounds) {
        if (rounds == roster[peer].announced) return;
        if (peer == 0) return roster.set_own(rounds, 0);
        roster.heard_round(peer, rounds, roster[0].announced);
        const std::vector<float> values(4, 1.0f);
        if (rounds > rows_late) ledger.replace(row_of(peer), 0, {1, rounds - rows_late}, values, 1);
    }
    /// `peer` says so of itself.
    void says(PeerIndex peer, const std::function<void(Status&)>& change) {
        Status status;
        status.standing.progress.resize(round_s.size());
        status.standing.progress[peer].round = roster[peer].announced;
        change(status);
        roster.heard_status(peer, status, now, roster[0].announced);
    }
    unsigned bound() const { return choice.waits().rounds_max; }

    std::vector<double> round_s;
    double waiting_costs = 1;
    Round rows_late = 0;
    PeerIndex unwilling = 99;
    Roster roster{0, round_s.size()};
    Ledger ledger{0, round_s.size(), Blocks{4, 4}};
    StalenessChoice choice{std::nullopt, roster, ledger};
    std::vector<double> made;
    Time now{1};
    double waited_s = 0;
};

}  // namespace

TEST_CASE("a bound that is set holds") {
    const Roster roster(0, 2);
    const Ledger ledger(0, 2, Blocks{4, 4});
    StalenessChoice choice(3, roster, ledger);
    choice.look(Time{1});
    CHECK(choice.waits() == Waits{0, 3, 0, {}});
}

TEST_CASE("where waiting costs little all wait, and the other way is tried ever less often") {
    Cluster cluster({0.1, 0.1, 0.1, 0.1});
    cluster.waiting_costs = 1.07;
    cluster.run(8.5);
    CHECK(cluster.bound() == 0);  // for comparison
    CHECK_FALSE(cluster.choice.take_chosen());
    cluster.run(2);
    const auto first = cluster.choice.take_chosen();
    REQUIRE(first);
    CHECK(first->waits.rounds_max == 1);
    CHECK(first->waiting == doctest::Approx(40 / 1.07).epsilon(0.03));
    CHECK(first->free == doctest::Approx(40).epsilon(0.03));
    cluster.run(200);
    CHECK(cluster.bound() == 1);
    CHECK(cluster.waited_s > 0.95 * 210);
}

TEST_CASE("where waiting costs much, nobody waits, and the tries cost little") {
    Cluster cluster({0.1, 0.1, 0.1});
    SUBCASE("for the work that it makes") { cluster.waiting_costs = 1.7; }
    SUBCASE("for links that are far too slow") { cluster.waiting_costs = 30; }
    SUBCASE("a little too much") { cluster.waiting_costs = 1.3; }
    cluster.run(100);
    CHECK(cluster.bound() == 0);
    CHECK(cluster.waited_s > 0);
    CHECK(cluster.made[1] > 0.92 * 1000);
}

TEST_CASE("who is far slower is left out, and waited for once it keeps up") {
    Cluster cluster({0.1, 0.1, 0.4, 0.1});
    cluster.run(20);
    CHECK(cluster.bound() == 1);
    CHECK(cluster.choice.waits().left_out == peer_bit(2));
    CHECK(cluster.made[0] > 0.9 * 200);
    cluster.run(300);
    cluster.round_s[2] = 0.1;
    cluster.run(5);
    CHECK(cluster.bound() == 1);
    CHECK(cluster.choice.waits().left_out == 0);
}

TEST_CASE("a short pause does not end waiting for long") {
    Cluster cluster({0.1, 0.1, 0.1});
    cluster.run(30);
    REQUIRE(cluster.bound() == 1);
    cluster.waiting_costs = 20;
    cluster.run(1);
    CHECK(cluster.bound() == 0);
    cluster.waiting_costs = 1;
    cluster.run(5);
    CHECK(cluster.bound() == 1);
}

TEST_CASE("where rows are late anyway waiting is not tried") {
    Cluster cluster({0.1, 0.1, 0.1});
    cluster.waiting_costs = 30;
    cluster.rows_late = 9;
    cluster.run(8);
    CHECK(cluster.bound() == 0);
    cluster.waiting_costs = 1;
    cluster.run(30);
    CHECK(cluster.bound() == 0);
    cluster.rows_late = 7;
    cluster.run(5);
    CHECK(cluster.bound() == 1);
}

TEST_CASE("one that keeps no step is left out, however fast it is") {
    Cluster cluster({0.1, 0.1, 0.1});
    cluster.run(1);
    cluster.unwilling = 1;
    cluster.run(20);
    CHECK(cluster.bound() == 1);
    CHECK(cluster.choice.waits().left_out == peer_bit(1));
}

TEST_CASE("who meets a lower peer through others alone does not choose") {
    Roster roster(1, 3);
    Ledger ledger(1, 3, Blocks{4, 4});
    StalenessChoice choice(1, roster, ledger);
    roster.set_own(100, 0);
    roster.set_presence(2, Presence::up);
    roster.heard_round(2, 3, 100);
    Status status;
    status.standing.progress = {{0, 0}, {0, 0}, {3, 0}};
    status.heartbeat.reached = peer_bit(0) | peer_bit(1);
    roster.heard_status(2, status, Time{1}, 100);
    choice.look(Time{1});
    CHECK(choice.waits().number == 0);
    status.heartbeat.reached = peer_bit(1);
    roster.heard_status(2, status, Time{2}, 100);
    choice.look(Time{2});
    CHECK(choice.waits().starts == std::vector<Round>{0, 100, 3});
}

TEST_CASE("another word of the same number is another word") {
    Cluster cluster({0.1, 0.1, 0.1});
    cluster.run(0.5);
    cluster.choice.hear({0, 2, 0, {}});
    cluster.run(20);
    CHECK(cluster.bound() > 0);
}

TEST_CASE("where half of all are slow, nobody waits") {
    Cluster cluster({0.1, 0.4});
    cluster.run(30);
    CHECK(cluster.bound() == 0);
    CHECK(cluster.waited_s < 2);
}

TEST_CASE("where waiting becomes slow, it ends at once") {
    Cluster cluster({0.1, 0.1, 0.1});
    cluster.run(60);
    REQUIRE(cluster.bound() == 1);
    SUBCASE("for all") { cluster.waiting_costs = 2; }
    SUBCASE("for one that is left out then") { cluster.round_s[1] = 0.5; }
    cluster.run(25);
    CHECK((cluster.bound() == 0 || cluster.choice.waits().left_out == peer_bit(1)));
    CHECK(cluster.made[0] > 600 + 0.4 * 250);
}

TEST_CASE("the newest word counts, and the lowest live peer goes on from it") {
    Roster roster(1, 2);
    const Ledger ledger(1, 2, Blocks{4, 4});
    StalenessChoice choice(std::nullopt, roster, ledger);
    roster.set_presence(0, Presence::up);
    choice.hear({4, 1, 0, {}});
    choice.hear({3, 0, 0, {}});
    CHECK(choice.waits() == Waits{4, 1, 0, {}});
    choice.look(Time{1});
    CHECK(choice.waits() == Waits{4, 1, 0, {}});
}

TEST_CASE("with a bound that is set rounds are counted anew for one that is out of step") {
    Roster roster(0, 2);
    const Ledger ledger(0, 2, Blocks{4, 4});
    StalenessChoice choice(1, roster, ledger);
    roster.set_own(100, 0);
    roster.set_presence(1, Presence::up);
    choice.look(Time{1});
    CHECK(choice.waits().number == 0);  // it has not trained yet
    roster.heard_round(1, 3, 100);
    choice.look(Time{2});
    CHECK(choice.waits() == Waits{1, 1, 0, {100, 3}});
    roster.set_own(104, 0);
    roster.heard_round(1, 5, 104);
    choice.look(Time{3});
    CHECK(choice.waits().number == 1);
}

TEST_CASE("one that is lost is measured no more") {
    Cluster cluster({0.1, 0.1, 0.3});
    cluster.run(20);
    REQUIRE(cluster.choice.waits().left_out == peer_bit(2));
    cluster.roster.set_presence(2, Presence::lost);
    cluster.run(15);
    CHECK(cluster.bound() == 1);
}

}  // namespace ako::staleness_choice_test
