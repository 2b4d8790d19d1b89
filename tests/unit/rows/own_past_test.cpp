// What the own row was a moment ago, and snapshots that are given back.
#include "src/rows/own_past.h"

#include <doctest/doctest.h>

#include <optional>
#include <utility>
#include <vector>

namespace ako::own_past_test {

namespace {

constexpr Time second = std::chrono::seconds(1);

struct Bench {
    /// A round that ends then, as Rows::add has it, and that the traffic half takes at once.
    SnapshotIndex grow(Time sealed_at) {
        const SnapshotIndex next = outbox.spare();
        snapshots[next].sealed_at = sealed_at;
        past.add(next);
        outbox.post(next);
        if (const auto held = std::exchange(newest, outbox.take().snapshot))
            outbox.give_back(*held);
        return next;
    }
    Snapshots snapshots{Blocks{8, 4}};
    Outbox outbox{2};
    OwnPast past{snapshots, outbox};
    std::optional<SnapshotIndex> newest;
};

}  // namespace

TEST_CASE("the row was between two snapshots, or is as the newest has it") {
    Bench bench;
    CHECK(!bench.past.at(5 * second));
    const Snapshot& first = bench.snapshots[bench.grow(10 * second)];
    const Snapshot& second_one = bench.snapshots[bench.grow(12 * second)];
    const Snapshot& third = bench.snapshots[bench.grow(16 * second)];
    CHECK(!bench.past.at(9 * second));

    const auto early = bench.past.at(11 * second);
    REQUIRE(early);
    CHECK(early->before == &first);
    CHECK(early->after == &second_one);
    CHECK(early->part == 0.5F);

    const auto later = bench.past.at(15 * second);
    REQUIRE(later);
    CHECK(later->before == &second_one);
    CHECK(later->after == &third);
    CHECK(later->part == 0.75F);

    for (const Time now : {16 * second, 20 * second}) {
        const auto newest = bench.past.at(now);
        REQUIRE(newest);
        CHECK(newest->before == &third);
        CHECK(newest->after == &third);
    }
    CHECK(bench.past.at(10 * second)->before == &first);
    CHECK(bench.past.at(10 * second)->part == 0);
}

TEST_CASE("the row after a round, or as it is where that is still to be made") {
    Bench bench;
    CHECK(!bench.past.after(1));
    std::vector<const Snapshot*> made;
    for (Round round = 1; round <= 4; ++round) {
        const SnapshotIndex index = bench.grow(static_cast<int>(round) * second);
        bench.snapshots[index].version = {7, round};
        made.push_back(&bench.snapshots[index]);
    }
    CHECK(!bench.past.after(1));  // longer ago than what is kept
    for (const Round round : {2U, 3U, 4U}) {
        const auto found = bench.past.after(round);
        REQUIRE(found);
        CHECK(found->before == made[round - 1]);
        CHECK(found->after == made[round - 1]);
    }
    CHECK(bench.past.after(9)->before == made[3]);
}

TEST_CASE("the oldest of too many is given back, and all when they are forgotten") {
    Bench bench;
    for (int round = 1; round <= 50; ++round) bench.grow(round * second);  // `spare` aborts without
    CHECK(!bench.past.at(47 * second));
    CHECK(bench.past.at(48 * second));
    bench.past.forget();
    CHECK(!bench.past.at(50 * second));
    // But for the newest, which the traffic half still holds.
    for (std::size_t k = 1; k < snapshot_count; ++k) bench.outbox.spare();
}

}  // namespace ako::own_past_test
