// Verdicts, versions and what is said to be held.
#include "src/rows/ledger.h"

#include <doctest/doctest.h>

#include <limits>

#include "src/exchange/incarnation.h"
#include "src/numbers/checksum.h"

namespace ako::ledger_test {

namespace {

constexpr PeerIndex self = 1;
constexpr RowIndex own_row = row_of(self);
const Blocks blocks(10, 4);  // of 4, 4 and 2 elements

Snapshot snapshot_of(Round round, float value) {
    Snapshot snapshot;
    snapshot.values.assign(10, value);
    for (BlockIndex block = 0; block < 3; ++block) {
        const Range range = blocks.range(block);
        snapshot.checksums.push_back(
            crc32c(std::span<const float>(snapshot.values).subspan(range.first, range.count)));
    }
    snapshot.version = {1, round};
    return snapshot;
}

struct Bench {
    Snapshot own = snapshot_of(7, 0.5F);
    Ledger ledger{self, 3, blocks};
    Bench() { ledger.set_own(own); }

    BlockCheck check(BlockIndex block, Version version, const std::vector<float>& values) const {
        return ledger.check(2, block, version, values, crc32c(std::span<const float>(values)));
    }
    void take(RowIndex row, BlockIndex block, Version version, const std::vector<float>& values) {
        ledger.replace(row, block, version, values, crc32c(std::span<const float>(values)));
    }
};

}  // namespace

TEST_CASE("at first there are zeros of version {0, 0}, of the own row too") {
    Ledger ledger(self, 3, blocks);
    const RowHeld zero = ledger.held(0);
    CHECK(ledger.values(own_row).size() == 10);
    CHECK(ledger.held(own_row) == zero);
    ledger.replace(own_row, 0, {1, 5}, std::vector<float>(4, 1), 7);  // until it is claimed
    CHECK(ledger.version(own_row, 0) == Version{1, 5});
    CHECK(ledger.versions(own_row) == std::vector<VersionRun>{{1, {1, 5}}, {2, {}}});
    ledger.clear_begun({0, 1, 2});
    CHECK(ledger.held(own_row) == zero);
    const Bench bench;
    for (const RowIndex row : {RowIndex(0), RowIndex(2)}) {
        CHECK(bench.ledger.version(row, 2) == Version{});
        CHECK(bench.ledger.values(row).size() == 10);
        CHECK(bench.ledger.block(row, 2).size() == 2);
        for (const float value : bench.ledger.values(row)) CHECK(value == 0);
        CHECK(bench.ledger.checksum(row, 2) ==
              crc32c(std::span<const float>(std::vector<float>(2, 0))));  // a cut may name them
    }
    CHECK(bench.ledger.values(own_row).data() == bench.own.values.data());  // not a copy
    CHECK(bench.ledger.version(own_row, 2) == Version{1, 7});
    CHECK(bench.ledger.checksum(own_row, 2) == bench.own.checksums[2]);
    REQUIRE(bench.ledger.rows().size() == 3);
    CHECK(bench.ledger.rows()[1].data() == bench.own.values.data());
}

TEST_CASE("only the version decides between old and new") {
    Bench bench;
    const std::vector<float> values{1, 2, 3, 4};
    CHECK(bench.check(1, {1, 5}, values) == BlockCheck::good);
    bench.take(2, 1, {1, 5}, values);
    CHECK(bench.check(1, {1, 5}, {9, 9, 9, 9}) == BlockCheck::late);
    CHECK(bench.check(1, {1, 4}, values) == BlockCheck::late);
    CHECK(bench.check(1, {0, 99}, values) == BlockCheck::late);
    CHECK(bench.check(1, {1, 6}, values) == BlockCheck::good);
    const Incarnation later = next_incarnation(1, 9).value();
    CHECK(bench.check(1, {later, 1}, values) == BlockCheck::good);  // a later life
    CHECK(bench.check(0, {1, 1}, values) == BlockCheck::good);      // another block
}

TEST_CASE("of two rows of one name that were begun at zero, neither replaces the other") {
    Bench bench;
    const std::vector<float> values{1, 2, 3, 4};
    bench.take(2, 1, {5, 3}, values);
    CHECK(bench.ledger.begun(2) == 5);
    for (const Incarnation other : {4u, 6u}) {
        CHECK(bench.check(1, {other, 99}, values) == BlockCheck::late);
        CHECK(bench.check(0, {other, 99}, values) == BlockCheck::late);  // nor fills it up
        CHECK(bench.ledger.begun_apart(2, other));
    }
    CHECK(bench.check(1, {5, 4}, values) == BlockCheck::good);
    // Their sum does, which has more lives before it.
    const Version sum{next_incarnation(6, 5).value(), 99};
    CHECK(bench.check(1, sum, values) == BlockCheck::good);
    bench.take(2, 1, sum, values);
    CHECK(bench.check(1, {6, 200}, values) == BlockCheck::late);
    CHECK(!bench.ledger.begun_apart(0, 6));  // of which nothing is held
}

TEST_CASE("a damaged block and one that is not finite are told apart") {
    const Bench bench;
    const std::vector<float> values{1, 2, 3, 4};
    CHECK(bench.ledger.check(2, 0, {1, 1}, values, crc32c(std::span<const float>(values)) ^ 1) ==
          BlockCheck::damaged);
    CHECK(bench.check(0, {1, 1}, {1, std::numeric_limits<float>::infinity(), 3, 4}) ==
          BlockCheck::diverged);
    CHECK(bench.check(0, {1, 1}, {1, 2, 3, std::numeric_limits<float>::quiet_NaN()}) ==
          BlockCheck::diverged);
    CHECK(Ledger::inspect(values, crc32c(std::span<const float>(values))) == BlockCheck::good);
    CHECK(Ledger::inspect(values, 1) == BlockCheck::damaged);
}

TEST_CASE("taking a block changes that block of that row only") {
    Bench bench;
    bench.take(2, 2, {1, 3}, {8, 9});
    CHECK(bench.ledger.version(2, 2) == Version{1, 3});
    CHECK(bench.ledger.checksum(2, 2) == crc32c(std::span<const float>(std::vector<float>{8, 9})));
    CHECK(bench.ledger.values(2)[8] == 8);
    CHECK(bench.ledger.values(2)[9] == 9);
    CHECK(bench.ledger.values(2)[7] == 0);
    CHECK(bench.ledger.version(2, 1) == Version{});
    CHECK(bench.ledger.version(0, 2) == Version{});
    CHECK(bench.ledger.values(0)[8] == 0);
}

TEST_CASE("what is held is told by the lowest, the highest and a checksum of the version map") {
    Bench bench;
    const RowHeld nothing = bench.ledger.held(2);
    CHECK(nothing.lowest == Version{});
    CHECK(nothing.highest == Version{});
    CHECK(nothing.map_checksum == bench.ledger.held(0).map_checksum);
    bench.take(2, 0, {1, 4}, {1, 1, 1, 1});
    const RowHeld some = bench.ledger.held(2);
    CHECK(some.lowest == Version{});
    CHECK(some.highest == Version{1, 4});
    CHECK(some.map_checksum != nothing.map_checksum);
    // The same versions at other places are another map.
    Bench other;
    other.take(2, 1, {1, 4}, {1, 1, 1, 1});
    CHECK(other.ledger.held(2).lowest == some.lowest);
    CHECK(other.ledger.held(2).highest == some.highest);
    CHECK(other.ledger.held(2).map_checksum != some.map_checksum);
    // The map says nothing of values: equal versions are equal values, because only one peer writes
    // a row.
    Bench same;
    same.take(2, 0, {1, 4}, {2, 2, 2, 2});
    CHECK(same.ledger.held(2) == some);
}

TEST_CASE("the map of the own row is that of its owner at another peer") {
    Bench bench;
    Ledger elsewhere(0, 3, blocks);
    const Snapshot zero = snapshot_of(0, 0);
    elsewhere.set_own(zero);
    for (BlockIndex block = 0; block < 3; ++block) {
        elsewhere.replace(own_row, block, {1, 7}, bench.ledger.block(own_row, block),
                          bench.ledger.checksum(own_row, block));
    }
    CHECK(elsewhere.held(own_row) == bench.ledger.held(own_row));
    const Snapshot next = snapshot_of(8, 0.75F);
    bench.ledger.set_own(next);
    CHECK(bench.ledger.held(own_row).highest == Version{1, 8});
    CHECK(bench.ledger.held(own_row) != elsewhere.held(own_row));
}

TEST_CASE(
    "only the adoption of a cut lets a version fall, that of the own row once it is detached") {
    Bench bench;
    bench.take(2, 1, {1, 9}, {9, 9, 9, 9});
    const std::vector<float> old{3, 3, 3, 3};
    bench.ledger.adopt(2, 1, {1, 3}, old, crc32c(std::span<const float>(old)));
    CHECK(bench.ledger.version(2, 1) == Version{1, 3});
    CHECK(bench.ledger.values(2)[4] == 3);
    CHECK(bench.ledger.held(2).highest == Version{1, 3});

    const RowHeld attached = bench.ledger.held(own_row);
    bench.ledger.detach_own();
    CHECK(bench.ledger.values(own_row).data() != bench.own.values.data());
    CHECK(bench.ledger.held(own_row) == attached);
    CHECK(bench.ledger.checksum(own_row, 1) == bench.own.checksums[1]);
    bench.ledger.adopt(own_row, 1, {1, 6}, old, crc32c(std::span<const float>(old)));
    CHECK(bench.ledger.version(own_row, 1) == Version{1, 6});
    CHECK(bench.ledger.version(own_row, 0) == Version{1, 7});
    CHECK(bench.ledger.values(own_row)[4] == 3);
    CHECK(bench.ledger.values(own_row)[3] == 0.5F);
    CHECK(bench.own.values == std::vector<float>(10, 0.5F));
}

}  // namespace ako::ledger_test
