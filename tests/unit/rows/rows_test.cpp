// The own row: taken from others until it is claimed, then written by its owner alone.
#include "src/rows/rows.h"

#include <doctest/doctest.h>

#include "src/numbers/checksum.h"

namespace ako::rows_test {

namespace {

constexpr Time ms = std::chrono::milliseconds(1);
constexpr RowIndex own = 0;

/// Peer 0 of two, with rows of two blocks of four floats.
struct Bench {
    explicit Bench(std::optional<std::int64_t> ahead = std::nullopt) { rows.keep_step(1, ahead); }

    BlockCheck take(RowIndex row, BlockIndex block, Version version, float value,
                    std::optional<Time> sealed_at = std::nullopt) {
        const std::vector<float> values(4, value);
        return rows.take(row, block, version, values, crc32c(std::span<const float>(values)),
                         sealed_at, now);
    }
    bool add(Round round, float value) {
        now += 10 * ms;
        return rows.add(
            round,
            [value](Range, std::span<float> update) {
                std::fill(update.begin(), update.end(), value);
            },
            now);
    }
    /// What the traffic half finds.
    std::optional<Snapshot> posted() {
        const auto index = outbox.take().snapshot;
        if (!index) return std::nullopt;
        const Snapshot snapshot = snapshots[*index];
        if (held) outbox.give_back(*held);
        held = index;
        return snapshot;
    }
    void check_replica() const {
        std::vector<float> anchor(8);
        rows.copy_anchor(anchor);
        for (std::size_t k = 0; k < 8; ++k) {
            CHECK(rows.replica().values()[k] == doctest::Approx(anchor[k]));
        }
    }

    const Blocks blocks{8, 4};
    std::vector<float> initial = std::vector<float>(8, 0.5F);
    Outbox outbox{2};
    Snapshots snapshots{blocks};
    Rows rows{0, 2, blocks, initial, outbox, snapshots, Precision::float32};
    std::optional<SnapshotIndex> held;
    Time now = std::chrono::seconds(1);
};

}  // namespace

TEST_CASE("a row that begins at zero is nothing that could be sent") {
    Bench bench;
    CHECK(!bench.rows.claimed());
    bench.rows.claim(7, 0, bench.now);
    CHECK(bench.rows.claimed());
    CHECK(!bench.posted());
    CHECK(bench.rows.ledger().version(own, 1) == Version{});
    REQUIRE(bench.add(1, 2));
    CHECK(bench.posted()->version == Version{7, 1});
}

TEST_CASE("blocks that are ready are posted before the rest of their round, which is the same") {
    Bench bench;
    bench.rows.claim(7, 0, bench.now);
    const auto update = [](Range range, std::span<float> values) {
        std::fill(values.begin(), values.end(), range.first == 0 ? 1.0F : 2.0F);
    };
    CHECK(bench.rows.left_to_add() == 2);
    REQUIRE(bench.rows.add_early(1, 1, update, bench.now + ms));
    CHECK(bench.rows.left_to_add() == 1);
    const auto growing = bench.outbox.take().growing;
    REQUIRE(growing);
    CHECK(growing->first == 1);
    CHECK(growing->version == Version{7, 1});
    CHECK(growing->sealed_at == bench.now + ms);
    const std::span<const float> values(bench.snapshots[growing->snapshot].values);
    CHECK(values[7] == 2);
    CHECK(bench.snapshots[growing->snapshot].checksums[1] == crc32c(values.subspan(4, 4)));
    CHECK(bench.rows.ledger().version(own, 1) == Version{});  // the round is not made yet
    REQUIRE(bench.rows.add(1, update, bench.now + 2 * ms));
    const auto whole = bench.posted();
    REQUIRE(whole);
    CHECK(whole->values == std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2});
    CHECK(whole->version == Version{7, 1});
    CHECK(bench.rows.left_to_add() == 2);
    bench.check_replica();
}

TEST_CASE("where all wait for each other, a block stands beside the own row after its round") {
    for (const bool in_step : {false, true}) {
        Bench bench(in_step ? std::optional<std::int64_t>(-4) : std::nullopt);
        bench.rows.claim(7, 0, bench.now);
        bench.rows.stand_in(1, true, bench.now);
        REQUIRE(bench.add(1, 4));
        // The other had ended the same round a little earlier.
        const Time sealed_at = bench.now - ms;
        for (const BlockIndex block : {0U, 1U})
            bench.take(RowIndex(1), block, {9, 5}, 4, sealed_at);
        std::vector<float> anchor(8);
        bench.rows.copy_anchor(anchor);
        const float lead = bench.rows.replica().values()[0] - anchor[0];
        CHECK(lead == doctest::Approx(in_step ? 0 : 0.2).scale(1));
    }
}

TEST_CASE("a block that is a round ahead is stood in for by nothing once that round is made here") {
    Bench bench(0);
    bench.rows.claim(7, 0, bench.now);
    bench.rows.stand_in(1, true, bench.now);
    REQUIRE(bench.add(1, 4));
    for (const BlockIndex block : {0U, 1U})
        bench.take(RowIndex(1), block, {9, 2}, 4, bench.now - ms);
    REQUIRE(bench.add(2, 4));
    bench.check_replica();
    REQUIRE(bench.add(3, 4));  // this round it has not made, as far as is known
    std::vector<float> anchor(8);
    bench.rows.copy_anchor(anchor);
    CHECK(bench.rows.replica().values()[0] - anchor[0] == doctest::Approx(2).scale(1));
}

TEST_CASE("a row that was taken from others is claimed as it is held, in a later life") {
    Bench bench;
    CHECK(bench.take(own, 0, {7, 5}, 3) == BlockCheck::good);
    CHECK(bench.take(own, 1, {7, 4}, 4) == BlockCheck::good);
    const Incarnation second = Incarnation{1} << 48 | 9;
    bench.rows.claim(second, 5, bench.now);
    const auto snapshot = bench.posted();
    REQUIRE(snapshot);
    CHECK(snapshot->version == Version{second, 5});
    CHECK(snapshot->values == std::vector<float>{3, 3, 3, 3, 4, 4, 4, 4});
    const std::span<const float> values(snapshot->values);
    CHECK(snapshot->checksums[1] == crc32c(values.subspan(4, 4)));
    bench.check_replica();
    // From now on nobody else writes it.
    CHECK(bench.take(own, 0, {second, 50}, 9) == BlockCheck::late);
    REQUIRE(bench.add(6, 1));
    CHECK(bench.posted()->values == std::vector<float>{4, 4, 4, 4, 5, 5, 5, 5});
    CHECK(bench.rows.ledger().version(own, 0) == Version{second, 6});
}

TEST_CASE("what another process has made of the own row takes its place, once disclaimed") {
    Bench bench;
    bench.rows.claim(7, 0, bench.now);
    REQUIRE(bench.add(1, 2));
    REQUIRE(bench.posted());
    bench.rows.stand_in(1, true, bench.now);
    REQUIRE(bench.add(2, 2));
    bench.rows.disclaim();
    CHECK(!bench.rows.claimed());
    CHECK(bench.rows.ledger().version(own, 0) == Version{7, 2});
    CHECK(!bench.rows.replica().stands_in(1));
    bench.check_replica();
    const Incarnation theirs = Incarnation{1} << 48 | 9;
    CHECK(bench.take(own, 0, {theirs, 3}, 10) == BlockCheck::good);
    CHECK(bench.take(own, 1, {theirs, 3}, 11) == BlockCheck::good);
    const Incarnation again = Incarnation{2} << 48 | 7;
    bench.rows.claim(again, 3, bench.now);
    CHECK(bench.posted()->values == std::vector<float>{10, 10, 10, 10, 11, 11, 11, 11});
    bench.check_replica();
    for (Round round = 4; round < 20; ++round) {  // and no snapshot was lost on the way
        REQUIRE(bench.add(round, 1));
        REQUIRE(bench.posted());
    }
}

TEST_CASE("two rows of one name that were both begun at zero are added up") {
    Bench bench;
    bench.rows.claim(7, 0, bench.now);
    REQUIRE(bench.add(1, 2));
    REQUIRE(bench.posted());
    bench.rows.disclaim();
    CHECK(bench.take(own, 0, {8, 9}, 10) == BlockCheck::late);  // neither replaces the other
    CHECK(bench.take(own, 0, {6, 9}, 10) == BlockCheck::late);
    bench.rows.set_aside({0, 1});
    CHECK(bench.rows.ledger().version(own, 0) == Version{});
    CHECK(bench.take(own, 0, {8, 9}, 10) == BlockCheck::good);
    CHECK(bench.take(own, 1, {8, 9}, 20) == BlockCheck::good);
    bench.rows.claim(Incarnation{1} << 48 | 7, 9, bench.now);
    CHECK(bench.posted()->values == std::vector<float>{12, 12, 12, 12, 22, 22, 22, 22});
    bench.check_replica();
}

TEST_CASE("what was made here before a partial was sealed does not stand in for it any more") {
    Bench bench;
    bench.rows.claim(7, 0, bench.now);
    REQUIRE(bench.add(1, 1));
    bench.rows.stand_in(1, true, bench.now);
    const Time first = bench.now;
    REQUIRE(bench.add(2, 2));
    REQUIRE(bench.add(3, 4));
    const std::span<const float> replica = bench.rows.replica().values();
    CHECK(replica[0] == 0.5F + (7 + 6) / 2.0F);
    // Halfway between the two newest rounds the row was 5, of which 4 have stood in.
    const std::vector<float> values(4, 0.0F);
    const std::uint32_t checksum = crc32c(std::span<const float>(values));
    const Time then = first + 15 * ms;
    bench.rows.take(row_of(1), 0, {1, 1}, values, checksum, then, bench.now + 70 * ms);
    CHECK(replica[0] == 0.5F + (7 + 2) / 2.0F);
    CHECK(replica[4] == 0.5F + (7 + 6) / 2.0F);
    // What is older than the mark moves nothing.
    bench.rows.take(row_of(1), 0, {1, 2}, values, checksum, first, bench.now + 70 * ms);
    CHECK(replica[0] == 0.5F + (7 + 2) / 2.0F);
}

TEST_CASE("the rounding that was carried belongs to the row that it was cut off from") {
    Bench bench;
    bench.rows.claim(7, 0, bench.now);
    REQUIRE(bench.add(1, 1));
    REQUIRE(bench.add(2, 1e-8F));  // too little for the total: carried
    bench.rows.disclaim();
    bench.rows.claim(Incarnation{1} << 48 | 7, 2, bench.now);
    for (Round round = 3; round < 8; ++round) REQUIRE(bench.add(round, 1e-8F));
    CHECK(bench.rows.ledger().values(own)[0] == 1.0F);  // 5e-8 of the six
}

}  // namespace ako::rows_test
