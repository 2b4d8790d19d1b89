// Whom to ask for what, and when to ask another.
#include "src/puller.h"

#include <doctest/doctest.h>

#include <set>

using namespace ako;

namespace {

constexpr Time timeout = std::chrono::milliseconds(500);
constexpr Time ms = std::chrono::milliseconds(1);

/// Lacking are the blocks of the set, all of one version.
Puller::Lacking lacking(const std::set<BlockIndex>& blocks) {
    return [&blocks](BlockIndex block) -> std::optional<Version> {
        if (!blocks.contains(block)) return std::nullopt;
        return Version{1, 9};
    };
}

}  // namespace

TEST_CASE("asks the lowest holder for what is lacking, in runs") {
    Puller puller(3, 20, timeout);
    const std::set<BlockIndex> wanted{2, 3, 4, 10, 19};
    const auto ask = puller.step(Time{0}, peer_bit(5) | peer_bit(2), true, lacking(wanted));
    REQUIRE(ask);
    CHECK(ask->holder == 2);
    CHECK(ask->want.row == 3);
    CHECK(ask->want.exact);
    CHECK(ask->want.runs ==
          std::vector<Want::Run>{{{2, 3}, {1, 9}}, {{10, 1}, {1, 9}}, {{19, 1}, {1, 9}}});
}

TEST_CASE("blocks of different versions are different runs") {
    Puller puller(0, 4, timeout);
    const auto ask = puller.step(Time{0}, peer_bit(1), false, [](BlockIndex block) {
        return std::optional(Version{1, block < 2 ? 5u : 6u});
    });
    REQUIRE(ask);
    CHECK(!ask->want.exact);
    CHECK(ask->want.runs == std::vector<Want::Run>{{{0, 2}, {1, 5}}, {{2, 2}, {1, 6}}});
}

TEST_CASE("asks nothing where nothing is lacking or nobody holds it") {
    Puller puller(0, 8, timeout);
    const std::set<BlockIndex> none;
    const std::set<BlockIndex> one{4};
    CHECK(!puller.step(Time{0}, peer_bit(1), true, lacking(none)));
    CHECK(!puller.step(Time{0}, 0, true, lacking(one)));
    CHECK(puller.step(Time{0}, peer_bit(1), true, lacking(one)));  // those were no questions
}

TEST_CASE("a holder that does not answer in time is passed over, until all were tried") {
    Puller puller(0, 8, timeout);
    const std::set<BlockIndex> wanted{1};
    const PeerSet holders = peer_bit(1) | peer_bit(4) | peer_bit(6);
    std::vector<PeerIndex> asked;
    for (Time now{0}; now < 6 * timeout; now += 10 * ms) {
        if (const auto ask = puller.step(now, holders, true, lacking(wanted))) {
            asked.push_back(ask->holder);
        }
    }
    CHECK(asked == std::vector<PeerIndex>{1, 4, 6, 1, 4, 6});
}

TEST_CASE("as long as something comes, the holder is not asked again") {
    Puller puller(0, 300, timeout);
    std::set<BlockIndex> wanted;
    for (BlockIndex block = 0; block < 300; ++block) wanted.insert(block);
    const auto first = puller.step(Time{0}, peer_bit(1) | peer_bit(2), true, lacking(wanted));
    REQUIRE(first);
    BlockIndex count = 0;
    for (const Want::Run& run : first->want.runs) count += run.blocks.count;
    CHECK(count == Puller::blocks_max);
    Time now{0};
    for (BlockIndex block = 0; block < Puller::blocks_max; ++block) {
        now += timeout - ms;
        CHECK(!puller.step(now, peer_bit(1) | peer_bit(2), true, lacking(wanted)));
        wanted.erase(block);
        puller.arrived(1, now);
    }
    // All that was asked for is there: the next question comes at once, to the same holder.
    const auto second = puller.step(now, peer_bit(1) | peer_bit(2), true, lacking(wanted));
    REQUIRE(second);
    CHECK(second->holder == 1);
    CHECK(second->want.runs == std::vector<Want::Run>{{{256, 44}, {1, 9}}});
}

TEST_CASE("the next question goes on where the last one ended, so that no block is starved") {
    Puller puller(0, 1000, timeout);
    std::set<BlockIndex> wanted;
    for (BlockIndex block = 0; block < 1000; ++block) wanted.insert(block);
    std::set<BlockIndex> asked;
    Time now{0};
    for (int question = 0; question < 4; ++question) {
        const auto ask = puller.step(now, peer_bit(1), true, lacking(wanted));
        REQUIRE(ask);
        for (const Want::Run& run : ask->want.runs) {
            for (BlockIndex k = 0; k < run.blocks.count; ++k) asked.insert(run.blocks.first + k);
        }
        now += timeout;  // nobody answers
    }
    CHECK(asked.size() == 1000);
}
