// What is far beyond what is usual, by one's own past and by the others.
#include "src/exchange/growth_watch.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "tests/contains.h"

namespace ako::growth_watch_test {

using ako::test::contains;

namespace {

/// Peer 0 of four; the others tell what they have given.
struct Others {
    Others() : roster(0, 4) {}
    void tells(PeerIndex peer, float largest, Round round) {
        Status status;
        status.standing.progress.resize(4);
        status.standing.progress[peer].round = round;
        status.rows.resize(4);
        status.standing.largest_norm = largest;
        roster.set_presence(peer, Presence::up);
        roster.heard_status(peer, status, Time{1}, 0);
    }
    Roster roster;
};

/// A round that gives this norm, in two parts.
bool gives(GrowthWatch& watch, float norm, Round round, const Roster* others,
           const std::vector<float>& parameters = {}) {
    const std::vector<float> first{0.6F * norm, 0}, second{0, 0.8F * norm};
    const bool refused = watch.look(first, "gradient", round, others, parameters).has_value() ||
                         watch.look(second, "gradient", round, others, parameters).has_value();
    watch.end_round(!refused);
    return !refused;
}

}  // namespace

TEST_CASE("growth by a hundred times of all before is refused, and does not count as usual") {
    GrowthWatch watch(100);
    CHECK(gives(watch, 1e-3F, 1, nullptr));  // nothing is known: anything goes
    CHECK(gives(watch, 0.099F, 2, nullptr));
    CHECK(watch.largest() == doctest::Approx(0.099F));
    CHECK(!gives(watch, 10, 3, nullptr));
    CHECK(watch.largest() == doctest::Approx(0.099F));
    CHECK(!gives(watch, 10, 3, nullptr));
    CHECK(gives(watch, 9.8F, 3, nullptr));
}

TEST_CASE("what is refused is said with what it was held against") {
    GrowthWatch watch(100);
    CHECK(gives(watch, 2, 1, nullptr));
    Others others;
    others.tells(1, 3, 7);
    const std::vector<float> values{4e6F};
    const auto why = watch.look(values, "update", 7, &others.roster, {});
    REQUIRE(why);
    CHECK(contains(*why, "the update of round 7 is far beyond what is usual: its norm is 4e+06"));
    CHECK(contains(*why, "the largest of this peer so far was 2, those of the others were 3"));
}

TEST_CASE("a fit model and one batch that it does not fit: the largest counts, not the newest") {
    GrowthWatch watch(100);
    CHECK(gives(watch, 5, 1, nullptr));
    for (Round round = 2; round < 1000; ++round) CHECK(gives(watch, 1e-6F, round, nullptr));
    CHECK(gives(watch, 5, 1000, nullptr));
}

TEST_CASE("a long warm-up from nothing is no fault") {
    GrowthWatch watch(100);
    CHECK(gives(watch, 0, 1, nullptr));
    for (Round round = 2; round < 5000; ++round)
        CHECK(gives(watch, static_cast<float>(round) * 1e-3F, round, nullptr));
}

TEST_CASE("growth by a little in each round is seen by what two others give") {
    GrowthWatch watch(100);
    Others others;
    float norm = 1;
    Round round = 1;
    others.tells(1, 1, 40);
    for (; round < 20; ++round) CHECK(gives(watch, norm *= 1.5F, round, &others.roster));
    // One other alone cannot tell which of the two it is.
    others.tells(2, 1.2F, 40);
    CHECK(!gives(watch, norm *= 1.5F, round, &others.roster));
    // Nor can those who have hardly begun, in a warm-up or with a late start.
    CHECK(gives(watch, norm, 100, &others.roster));
}

TEST_CASE("a process that has just begun is held against the others") {
    GrowthWatch watch(100);
    Others others;
    others.tells(1, 2, 10);
    CHECK(!gives(watch, 201, 1, &others.roster));
    CHECK(gives(watch, 199, 1, &others.roster));
}

TEST_CASE("one peer that lies about its norms decides nothing") {
    GrowthWatch watch(100);
    Others others;
    CHECK(gives(watch, 1, 9, &others.roster));
    others.tells(1, 1e-30F, 10);
    others.tells(2, 1, 10);
    others.tells(3, 1, 10);
    CHECK(gives(watch, 50, 10, &others.roster));
    others.tells(1, std::numeric_limits<float>::max(), 10);
    CHECK(!gives(watch, 6000, 10, &others.roster));
}

TEST_CASE("what is not finite is left to the mode, and 0 switches it off") {
    GrowthWatch watch(100);
    CHECK(gives(watch, 1, 1, nullptr));
    CHECK(gives(watch, std::numeric_limits<float>::quiet_NaN(), 2, nullptr));
    CHECK(watch.largest() == 1);
    GrowthWatch off(0);
    CHECK(gives(off, 1, 1, nullptr));
    CHECK(gives(off, 1e9F, 2, nullptr));
}

TEST_CASE("who begins with a trained model has gradients of nearly nothing at first") {
    const std::vector<float> parameters{3, 4};
    GrowthWatch watch(100);
    CHECK(gives(watch, 1e-7F, 1, nullptr, parameters));
    CHECK(gives(watch, 4.9F, 2, nullptr, parameters));
    GrowthWatch other(100);
    CHECK(gives(other, 1e-7F, 1, nullptr, parameters));
    CHECK(!gives(other, 5.1F, 2, nullptr, parameters));
    for (Round round = 2; round <= GrowthWatch::few_rounds; ++round)
        CHECK(gives(other, 1e-7F, round, nullptr, parameters));
    CHECK(!gives(other, 4.9F, GrowthWatch::few_rounds + 1, nullptr, parameters));
    GrowthWatch restored(100);
    restored.restore(1e-7F);
    CHECK(!gives(restored, 4.9F, 2, nullptr, parameters));
}

}  // namespace ako::growth_watch_test
