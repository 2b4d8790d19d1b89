// A bound that neither waits for ever nor lets anybody run ahead.
#include "src/rows/staleness_bound.h"

#include <doctest/doctest.h>

#include <vector>

namespace ako::staleness_bound_test {

namespace {

constexpr PeerIndex self = 0;
constexpr PeerIndex other = 1;
constexpr Time patience = std::chrono::milliseconds(100);

/// This peer and another, one block a row.
struct Pair {
    Blocks blocks{4, 4};
    Ledger ledger{self, 2, blocks};
    Roster roster{self, 2};
    StalenessBound bound{patience, ledger, roster};
    Waits how{0, 3, 0, {}};
    Round round = 0;

    /// Both begin together.
    Pair() {
        roster.set_presence(other, Presence::up);
        REQUIRE_FALSE(waits(Time{0}));
    }

    bool waits(Time now) { return bound.must_wait(how, now); }
    void made(Round rounds) {
        round = rounds;
        roster.set_own(round, 0);
    }
    /// The other is at `announced` and holds `held` of this peer's row.
    void heard(Round announced, Round held, std::optional<Round> final_round = std::nullopt) {
        Status status;
        status.standing.progress = {{0, 0}, {announced, 0}};
        status.rows.push_back({{1, held}, {1, held}, 0});
        status.rows.push_back({{1, announced}, {1, announced}, 0});
        status.standing.final_round = final_round;
        roster.heard_status(other, status, Time{1}, round);
    }
    void received(Round version) {
        const std::vector<float> values(4, static_cast<float>(version));
        ledger.replace(row_of(other), 0, {1, version}, values, static_cast<std::uint32_t>(version));
    }
};

TEST_CASE("no bound, no waiting") {
    Pair pair;
    pair.made(10);
    CHECK(pair.waits(Time{0}));
    SUBCASE("for nobody") { pair.how = {1, 0, 0, {}}; }
    SUBCASE("for who is left out") { pair.how = {1, 3, peer_bit(other), {}}; }
    SUBCASE("by who is left out") { pair.how = {1, 3, peer_bit(self), {}}; }
    CHECK_FALSE(pair.waits(Time{0}));
}

TEST_CASE("a round begins once the row that it is to contain is held, whatever the other says") {
    Pair pair;
    pair.made(2);
    CHECK_FALSE(pair.waits(Time{0}));  // round 3 contains round 0
    pair.made(3);
    CHECK(pair.waits(Time{0}));
    pair.heard(3, 3);
    CHECK(pair.waits(Time{0}));
    pair.received(1);
    CHECK_FALSE(pair.waits(Time{0}));
    pair.heard(9, 0);  // it is ahead, and holds nothing of this peer's row
    CHECK_FALSE(pair.waits(Time{0}));
}

TEST_CASE("who is out of step is not waited for until rounds are counted anew") {
    Pair pair;
    pair.made(1000);
    CHECK_FALSE(pair.waits(Time{0}));
    pair.how.starts = {1000, 0};
    CHECK_FALSE(pair.waits(Time{0}));
    CHECK(StalenessBound::in_step(pair.how, pair.roster, other));
    pair.made(1003);
    CHECK(pair.waits(Time{0}));
    pair.received(1);
    CHECK_FALSE(pair.waits(Time{0}));
    pair.made(1014);
    CHECK(pair.waits(Time{0}));
    pair.made(1015);  // more than waiting and some slack would allow
    CHECK_FALSE(pair.waits(Time{0}));
}

TEST_CASE("one that came late waits for those that are ahead, as many rounds as it makes") {
    Pair pair;
    pair.heard(1000, 0);
    pair.received(1000);
    pair.how.starts = {0, 1000};
    CHECK_FALSE(pair.waits(Time{0}));
    pair.made(2);
    CHECK_FALSE(pair.waits(Time{0}));
    pair.made(3);
    CHECK(pair.waits(Time{0}));
    pair.received(1001);
    CHECK_FALSE(pair.waits(Time{0}));
}

TEST_CASE("who is lost, gone or in the final exchange is not waited for") {
    Pair pair;
    pair.made(10);
    CHECK(pair.waits(Time{0}));
    SUBCASE("lost") { pair.roster.set_presence(other, Presence::lost); }
    SUBCASE("left") { pair.roster.heard_bye(other, Bye{1}); }
    SUBCASE("finishing") { pair.heard(1, 1, 1); }
    CHECK_FALSE(pair.waits(Time{0}));
    CHECK(pair.bound.take_given_up().empty());
}

TEST_CASE("patience runs while nothing moves, and is renewed by whatever does") {
    Pair pair;
    pair.made(10);
    const Time start{1'000'000};
    CHECK(pair.waits(start));
    CHECK(pair.waits(start + patience / 2));
    pair.heard(1, 1);  // a little, and not enough
    CHECK(pair.waits(start + patience));
    CHECK(pair.waits(start + patience * 2 - Time{1}));
    CHECK_FALSE(pair.waits(start + patience * 2));
    CHECK(pair.bound.take_given_up() == std::vector<PeerIndex>{other});
    CHECK_FALSE(pair.waits(start + patience * 2));
    CHECK(pair.bound.take_given_up().empty());  // told once
    pair.heard(2, 1);                           // it moves again, and is waited for again
    CHECK(pair.waits(start + patience * 3));
}

TEST_CASE("rounds that take longer than the least patience are waited for") {
    const Time start{1'000'000};
    SUBCASE("by the own rounds") {
        Pair pair;
        CHECK_FALSE(pair.waits(start));  // a round begins ...
        pair.made(10);                   // ... and ends a second later
        const Time ended = start + std::chrono::seconds(1);
        CHECK(pair.waits(ended));
        CHECK(pair.waits(ended + std::chrono::milliseconds(3999)));
        CHECK_FALSE(pair.waits(ended + std::chrono::seconds(4)));
    }
    SUBCASE("by the other's") {
        Pair pair;
        pair.made(10);
        pair.heard(1, 1);
        CHECK(pair.waits(start));
        pair.heard(2, 2);
        const Time heard = start + std::chrono::milliseconds(90);
        CHECK(pair.waits(heard));
        CHECK(pair.waits(heard + std::chrono::milliseconds(359)));
        CHECK_FALSE(pair.waits(heard + std::chrono::milliseconds(360)));
    }
}

}  // namespace
}  // namespace ako::staleness_bound_test
