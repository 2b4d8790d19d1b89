// The sums of an elastic ring at one peer, without a network: what it holds from one epoch to the
// next, what it drops, and what it does not take.
#include "src/buckets/elastic_ring.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/contains.h"
#include "tests/fakes/no_transport.h"

namespace ako::elastic_ring_test {

using ako::test::contains;

namespace {

/// Peer b of a, b and c; two buckets of 60 elements that go round.
struct Bench {
    void begin(std::uint32_t epoch, PeerSet members, const std::vector<Holding>& others = {}) {
        std::vector<Holding> holdings(3);
        for (std::size_t peer = 0; peer < others.size(); ++peer) holdings[peer] = others[peer];
        holdings[1] = ring.enter(epoch);
        ring.begin(members, holdings);
        ring.go();
    }
    void contribute(std::uint64_t sync) {
        for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket)
            ring.contributed({bucket, sync, gradient, StopReason::none});
    }
    void arrive(PeerIndex from, const Chunk& chunk, const std::vector<float>& values) {
        REQUIRE(!ring.refuse(from, chunk, values.size()));
        const auto place = ring.reserve(from, chunk, values.size());
        REQUIRE(place);
        std::memcpy(place->memory.data(), values.data(), place->memory.size());
        ring.arrived(from, chunk, *place, values.size());
    }
    static Holding after(std::uint64_t begun, std::uint64_t first, std::uint64_t second) {
        return {begun, {{1, first}, {1, second}}};
    }

    const Buckets buckets{{{0, 60}, {60, 60}}, 120, 200, 240};
    std::vector<float> gradient = std::vector<float>(120, 1);
    std::vector<float> parameters = std::vector<float>(120, 7), velocity = parameters;
    test::NoTransport transport;
    BucketBoard board{2, [] {}};
    ElasticRing ring{buckets, 1, 3, 0, {parameters, velocity}, board, transport};
};

}  // namespace

TEST_CASE("what is under way is dropped with its epoch, and made again from the same gradient") {
    Bench bench;
    bench.begin(1, 0b111);
    bench.contribute(1);
    // Part of it has come, and lies where the next epoch sums up.
    bench.arrive(0, {.kind = ChunkKind::reduced, .sync = 1, .first = 0, .epoch = 1},
                 std::vector<float>(20, 5));
    CHECK(!bench.board.completed(0, 1));
    const Holding holding = bench.ring.enter(2);
    CHECK(holding.begun == 1);
    CHECK(holding.sums == std::vector<SyncRun>{{2, 0}});
    std::vector<Holding> holdings(3);
    holdings[1] = holding;
    bench.ring.begin(0b010, holdings);
    for (const std::size_t bucket : {0, 1}) {
        const auto summary = bench.board.completed(bucket, 1);
        REQUIRE(summary);
        CHECK(summary->contributors == 0b010);
    }
    CHECK(std::ranges::equal(bench.ring.sums(1), bench.gradient));
}

TEST_CASE("a chunk of an earlier epoch is read and dropped, one of a later one is refused") {
    Bench bench;
    bench.begin(1, 0b111);
    bench.contribute(1);
    bench.begin(2, 0b011, {Bench::after(1, 0, 0)});
    const Chunk early{.kind = ChunkKind::reduced, .sync = 1, .first = 0, .epoch = 1};
    bench.arrive(0, early, std::vector<float>(20, 5));
    CHECK(std::ranges::none_of(bench.ring.sums(1), [](float value) { return value == 5; }));
    const Chunk late{.kind = ChunkKind::reduced, .sync = 1, .first = 0, .epoch = 3};
    CHECK(contains(bench.ring.refuse(0, late, 20).value_or(""), "epoch 3, which has not begun"));
}

TEST_CASE("who lacks a sum takes it from who holds it, with whose gradients are in it") {
    Bench bench;
    bench.begin(1, 0b111);
    bench.contribute(1);
    bench.begin(2, 0b011, {Bench::after(1, 1, 0)});  // of the first bucket peer a holds the sum
    CHECK(!bench.board.completed(0, 1));
    const Chunk whole{.kind = ChunkKind::restored,
                      .wish = {StopReason::requested, 0},
                      .sync = 1,
                      .first = 0,
                      .epoch = 2,
                      .contributors = 0b111};
    bench.arrive(0, whole, std::vector<float>(60, 9));
    const auto summary = bench.board.completed(0, 1);
    REQUIRE(summary);
    CHECK(summary->contributors == 0b111);
    CHECK(summary->wish.stop == StopReason::requested);
    CHECK(bench.ring.sums(1)[59] == 9);
    CHECK(bench.ring.refuse(0, whole, 60) == "Chunk sent twice");
    CHECK(!bench.board.completed(1, 1));  // the other is reduced again
}

TEST_CASE("a newcomer is filled, and takes no more than that") {
    Bench bench;
    bench.begin(4, 0b011, {Bench::after(8, 8, 8)});
    CHECK(!bench.ring.has_state());
    CHECK(bench.ring.entry_sync() == 8);
    Chunk chunk{.kind = ChunkKind::parameters, .sync = 8, .first = 0, .epoch = 4};
    for (const ChunkKind kind : {ChunkKind::parameters, ChunkKind::velocity}) {
        chunk.kind = kind;
        for (chunk.first = 0; chunk.first < 120; chunk.first += 60)
            bench.arrive(0, chunk, std::vector<float>(60, kind == ChunkKind::parameters ? 3 : 4));
    }
    CHECK(bench.ring.filled());
    CHECK(bench.parameters == std::vector<float>(120, 3));
    CHECK(bench.velocity == std::vector<float>(120, 4));
    chunk.first = 0;
    CHECK(contains(bench.ring.refuse(0, chunk, 60).value_or(""), "nobody has asked for"));
    bench.ring.come_in();
    CHECK(bench.ring.enter(5).sums == std::vector<SyncRun>{{2, 8}});
}

TEST_CASE("a member hands the state over once the compute thread is done with it") {
    Bench bench;
    bench.begin(1, 0b010);
    bench.contribute(1);
    bench.begin(2, 0b110);
    CHECK(bench.ring.asked_for() == 1);
    CHECK(!bench.ring.next(2, 1 << 20));  // the sum is not used yet
    bench.ring.consumed(1, 1);
    const auto first = bench.ring.next(2, 1 << 20);
    REQUIRE(first);
    const auto& chunk = std::get<Chunk>(first->header);
    CHECK(chunk.kind == ChunkKind::parameters);
    CHECK(chunk.first == 60);
    CHECK(std::get<Chunk>(bench.ring.next(2, 1 << 20)->header).kind == ChunkKind::velocity);
    CHECK(!bench.ring.next(2, 1 << 20));
}

}  // namespace ako::elastic_ring_test
