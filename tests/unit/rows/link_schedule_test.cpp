// What a link carries: fixed P, auto, sessions, grants, observed P.
#include "src/rows/link_schedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace ako::link_schedule_test {

namespace {

LinkSchedule schedule_of(std::size_t block_count) {
    return LinkSchedule(Blocks(4 * block_count, 4), 0, 0, 1);  // cursor at 0
}

/// Everything that the link sends until there is nothing more, in frames of at most `count_max`.
std::vector<BlockIndex> take_all(LinkSchedule& schedule, std::size_t block_count,
                                 BlockIndex count_max = 64) {
    std::vector<BlockIndex> sent;
    while (const auto run = schedule.next(count_max)) {
        REQUIRE(run->count >= 1);
        REQUIRE(run->count <= count_max);
        REQUIRE(run->first + run->count <= block_count);  // never wraps
        for (BlockIndex k = 0; k < run->count; ++k) sent.push_back(run->first + k);
    }
    return sent;
}

}  // namespace

TEST_CASE("cursors start staggered, so that all receive different partitions") {
    const Blocks blocks(4 * 64, 4);
    for (const PeerIndex peer_count : {2u, 4u, 8u}) {
        std::map<PeerIndex, std::set<BlockIndex>> by_sender;
        std::map<PeerIndex, std::set<BlockIndex>> by_receiver;
        for (PeerIndex sender = 0; sender < peer_count; ++sender) {
            for (PeerIndex receiver = 0; receiver < peer_count; ++receiver) {
                if (sender == receiver) continue;
                LinkSchedule schedule(blocks, sender, receiver, peer_count);
                schedule.begin_round(1, 1);
                const BlockIndex first = schedule.next(1)->first;
                CHECK(first == (receiver + peer_count - sender) % peer_count * 64 / peer_count);
                by_sender[sender].insert(first);
                by_receiver[receiver].insert(first);
            }
        }
        for (PeerIndex peer = 0; peer < peer_count; ++peer) {
            CHECK(by_sender[peer].size() == peer_count - 1);
            CHECK(by_receiver[peer].size() == peer_count - 1);
        }
    }
}

TEST_CASE("fixed P is exact for 1 to 40: every block once in P rounds, none twice in a round") {
    for (const std::size_t block_count : {1u, 7u, 37u, 106u}) {
        for (unsigned partitions = 1; partitions <= 40; ++partitions) {
            CAPTURE(block_count);
            CAPTURE(partitions);
            LinkSchedule schedule = schedule_of(block_count);
            std::vector<Round> last(block_count, 0);
            std::size_t sent = 0;
            const Round cycles = 20;
            for (Round round = 1; round <= cycles * partitions; ++round) {
                schedule.begin_round(round, partitions);
                std::set<BlockIndex> once;
                for (const BlockIndex block : take_all(schedule, block_count, 5)) {
                    REQUIRE(once.insert(block).second);
                    if (last[block] != 0) REQUIRE(round - last[block] == partitions);
                    last[block] = round;
                    ++sent;
                }
            }
            CHECK(sent == cycles * block_count);
            CHECK(schedule.observed_partitions() == doctest::Approx(partitions));
        }
    }
}

TEST_CASE("a bound of 1 lets every block go once after a round, then nothing until the next") {
    LinkSchedule schedule = schedule_of(10);
    CHECK(!schedule.next(64));  // there is no snapshot yet
    for (Round round = 1; round <= 3; ++round) {
        schedule.begin_round(round, 1);
        CHECK(take_all(schedule, 10, 3) == std::vector<BlockIndex>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
        CHECK(!schedule.next(64));
    }
    CHECK(schedule.observed_partitions() == 1);
}

TEST_CASE("a bound that changes is granted from the next round on") {
    LinkSchedule schedule(Blocks(4 * 12, 4), 0, 1, 4);
    Round round = 0;
    for (int cycle = 0; cycle < 2; ++cycle) {
        std::vector<BlockIndex> blocks;
        for (int sixth = 0; sixth < 6; ++sixth) {
            schedule.begin_round(++round, 6);
            const auto taken = take_all(schedule, 12);
            CHECK(taken.size() == 2);
            blocks.insert(blocks.end(), taken.begin(), taken.end());
        }
        std::sort(blocks.begin(), blocks.end());
        for (BlockIndex block = 0; block < 12; ++block) CHECK(blocks[block] == block);
    }
    schedule.begin_round(++round, 2);
    CHECK(take_all(schedule, 12).size() == 6);
    schedule.begin_round(++round, 12);
    CHECK(take_all(schedule, 12).size() == 1);
    schedule.lift_grants(true);
    schedule.begin_round(++round, 6);
    CHECK(take_all(schedule, 12).size() == 12);
}

TEST_CASE("it goes round-robin over a link that takes less than the vector per round") {
    LinkSchedule schedule = schedule_of(10);
    std::vector<BlockIndex> sent;
    for (Round round = 1; round <= 200; ++round) {
        schedule.begin_round(round, 1);
        for (BlockIndex left = 4; left > 0;) {
            const auto run = schedule.next(left);
            REQUIRE(run);
            for (BlockIndex k = 0; k < run->count; ++k) sent.push_back(run->first + k);
            left -= run->count;
        }
    }
    for (std::size_t k = 0; k < sent.size(); ++k) REQUIRE(sent[k] == k % 10);
    CHECK(schedule.observed_partitions() == doctest::Approx(2.5).epsilon(0.1));
}

TEST_CASE("the observed P follows the link at once") {
    LinkSchedule schedule = schedule_of(20);
    Round round = 0;
    const auto run_at = [&](BlockIndex per_round, int rounds) {
        for (int k = 0; k < rounds; ++k) {
            schedule.begin_round(++round, 1);
            for (BlockIndex left = per_round; left > 0;) {
                const auto run = schedule.next(left);
                REQUIRE(run);
                left -= run->count;
            }
        }
    };
    run_at(10, 10);
    CHECK(schedule.observed_partitions() == doctest::Approx(2));
    run_at(2, 40);
    CHECK(schedule.observed_partitions() == doctest::Approx(10).epsilon(0.1));
    run_at(20, 8);
    CHECK(schedule.observed_partitions() == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("in a new session every block is unsent, without a new round") {
    LinkSchedule schedule = schedule_of(6);
    schedule.begin_session();
    CHECK(!schedule.next(64));  // before the first round
    schedule.begin_round(1, 1);
    CHECK(take_all(schedule, 6).size() == 6);
    schedule.begin_session();
    CHECK(take_all(schedule, 6).size() == 6);
    // Rounds between sends of two sessions say nothing about P.
    CHECK(schedule.observed_partitions() == 0);
    schedule.begin_round(9, 1);
    CHECK(take_all(schedule, 6, 4) == std::vector<BlockIndex>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("lifted grants send everything; lowered again, a P-th per round") {
    LinkSchedule schedule = schedule_of(12);
    schedule.begin_round(1, 4);
    CHECK(take_all(schedule, 12).size() == 3);
    schedule.lift_grants(true);
    CHECK(take_all(schedule, 12).size() == 9);
    CHECK(!schedule.next(64));
    schedule.begin_round(2, 4);
    CHECK(take_all(schedule, 12).size() == 12);
    schedule.lift_grants(false);
    schedule.begin_round(3, 4);
    // What was granted and not used while lifted is worth one block at most.
    const std::size_t first = take_all(schedule, 12).size();
    CHECK(first >= 3);
    CHECK(first <= 4);
    schedule.begin_round(4, 4);
    CHECK(take_all(schedule, 12).size() == 3);
}

TEST_CASE("blocks of the round that is being made go last, and once") {
    LinkSchedule schedule = schedule_of(12);
    schedule.begin_round(1, 1);
    CHECK_FALSE(schedule.next_early(2, 8, 64));  // round 1 is not sent yet
    CHECK(take_all(schedule, 12).size() == 12);
    CHECK_FALSE(schedule.next_early(2, 12, 64));
    const auto first = schedule.next_early(2, 6, 4);
    REQUIRE(first);
    CHECK(first->first == 8);
    CHECK(first->count == 4);
    const auto second = schedule.next_early(2, 6, 4);
    REQUIRE(second);
    CHECK(second->first == 6);
    CHECK(second->count == 2);
    CHECK_FALSE(schedule.next_early(2, 6, 4));
    schedule.begin_round(2, 1);
    CHECK(take_all(schedule, 12) == std::vector<BlockIndex>{0, 1, 2, 3, 4, 5});
    SUBCASE("a round that was posted before anybody saw it is sent whole") {
        CHECK(schedule.next_early(3, 4, 64)->count == 8);
        schedule.begin_round(4, 1);
        CHECK(take_all(schedule, 12).size() == 12);
    }
    SUBCASE("and so is all of it over a new session") {
        CHECK(schedule.next_early(3, 4, 64)->count == 8);
        schedule.begin_session();
        CHECK(take_all(schedule, 12).size() == 12);
        schedule.begin_round(3, 1);
        CHECK(take_all(schedule, 12).size() == 12);
    }
    SUBCASE("and a round of that number that is another one") {
        schedule.begin_round(2, 1);
        CHECK(take_all(schedule, 12).size() == 12);
    }
    SUBCASE("where less than all is granted, none goes") {
        schedule.begin_round(3, 2);
        CHECK(take_all(schedule, 12).size() == 6);
        CHECK_FALSE(schedule.next_early(4, 6, 64));
    }
}

TEST_CASE("grants that a slow link did not take do not pile up") {
    LinkSchedule schedule = schedule_of(12);
    for (Round round = 1; round <= 50; ++round) schedule.begin_round(round, 3);
    CHECK(take_all(schedule, 12).size() == 5);  // one block and a third of the vector
    schedule.begin_round(51, 3);
    CHECK(take_all(schedule, 12).size() == 4);
}

}  // namespace ako::link_schedule_test
