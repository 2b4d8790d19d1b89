// Where buckets go straight from each peer to all others, what had come was counted of all
// together. So a peer that sent its part twice took the place of another's, whose session then
// ended with "Chunk sent twice"; and where the two came at the same time, an elastic ring ended
// with a failed assertion, for the sum was whole once more. The same with a sum that two handed
// over, and one that named nobody whose gradients were in it was divided by nobody. Since then each
// peer's part is counted by itself, and a sum of an epoch before is taken from the one who is to
// hand it over.
#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "src/buckets/elastic_ring.h"
#include "src/modes/bucket_mode.h"
#include "tests/contains.h"
#include "tests/fakes/no_transport.h"

namespace ako::sums_that_come_twice_test {

using ako::test::contains;

namespace {

constexpr std::size_t element_count = 120;

/// Peer b of a, b and c of an elastic ring: two buckets of 60 elements.
struct Bench {
    explicit Bench(std::size_t straight_bytes_max)
        : ring(buckets, 1, 3, straight_bytes_max, {parameters, velocity}, board, transport) {}

    void begin(std::uint32_t epoch, PeerSet members, const std::vector<Holding>& others) {
        std::vector<Holding> holdings = others;
        holdings.resize(3);
        holdings[1] = ring.enter(epoch);
        ring.begin(members, holdings);
        ring.go();
    }
    void contribute() {
        for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket)
            ring.contributed({bucket, 1, gradient, StopReason::none});
    }
    std::string refused(PeerIndex from, const Chunk& chunk, std::size_t count) {
        return ring.refuse(from, chunk, count).value_or("");
    }
    Destination place(PeerIndex from, const Chunk& chunk, std::size_t count) {
        REQUIRE(refused(from, chunk, count) == "");
        return ring.reserve(from, chunk, count).value();
    }

    const Buckets buckets{{{0, 60}, {60, 60}}, element_count, 200, 240};
    std::vector<float> gradient = std::vector<float>(element_count, 1);
    std::vector<float> parameters = gradient, velocity = gradient;
    test::NoTransport transport;
    BucketBoard board{2, [] {}};
    ElasticRing ring;
};

constexpr Chunk gathered(std::uint64_t first) {
    return {.kind = ChunkKind::gathered, .sync = 1, .first = first, .epoch = 1};
}

}  // namespace

TEST_CASE("of an elastic ring, no peer's part takes the place of another's") {
    Bench bench(1000);
    bench.begin(1, 0b111, {});
    bench.contribute();
    // The part of c is [40, 60) of the bucket, and its payload is still coming when that of a is.
    const Destination of_c = bench.place(2, gathered(40), 20);
    const Destination of_a = bench.place(0, gathered(0), 20);
    bench.ring.arrived(2, gathered(40), of_c, 20);
    CHECK(bench.refused(2, gathered(40), 20) == "Chunk sent twice");
    bench.ring.arrived(0, gathered(0), of_a, 20);
    CHECK(bench.refused(0, gathered(0), 1) == "Chunk sent twice");
    CHECK(!bench.board.completed(0, 1));  // the own part lacks the values of both
    const Chunk values{.kind = ChunkKind::reduced, .sync = 1, .first = 20, .epoch = 1};
    bench.ring.arrived(2, values, bench.place(2, values, 20), 20);
    CHECK(bench.refused(2, values, 20) == "Chunk sent twice");
    bench.ring.arrived(0, values, bench.place(0, values, 20), 20);
    CHECK(bench.board.completed(0, 1));
}

TEST_CASE("a sum of an epoch before comes from one, and of somebody's gradients") {
    Bench bench(0);
    bench.begin(1, 0b111, {});
    bench.contribute();
    const Holding whole{1, {{1, 1}, {1, 0}}};  // of the first bucket a and c hold the sum
    bench.begin(2, 0b111, {whole, {}, whole});
    Chunk restored{
        .kind = ChunkKind::restored, .sync = 1, .first = 0, .epoch = 2, .contributors = 0b111};
    CHECK(contains(bench.refused(2, restored, 60), "another peer hands over"));
    for (const PeerSet nobody : {PeerSet{0}, PeerSet{0b1000}}) {
        restored.contributors = nobody;
        CHECK(contains(bench.refused(0, restored, 60), "names nobody"));
    }
    restored.contributors = 0b111;
    // What is whole somewhere is not summed up again.
    const Chunk reduced{.kind = ChunkKind::reduced, .sync = 1, .first = 0, .epoch = 2};
    CHECK(contains(bench.refused(0, reduced, 20), "Chunk of sync 1 after"));
    bench.ring.arrived(0, restored, bench.place(0, restored, 60), 60);
    CHECK(bench.board.completed(0, 1));
}

TEST_CASE("of a ring, no peer's part takes the place of another's") {
    ModeSettings settings;
    settings.self = 1;
    settings.peer_names = {"a", "b", "c"};
    settings.exchange.mode = Mode::ring;
    settings.straight_bytes_max = 1000;
    const Buckets buckets({}, element_count);
    const std::vector<float> vector(element_count);
    test::NoTransport transport;
    BucketBoard board(1, [] {});
    const auto ring = make_protocol(settings, buckets, vector, board, transport);
    ring->contributed({0, 1, vector, StopReason::none});
    const Chunk of_c{.kind = ChunkKind::gathered, .sync = 1, .first = 80};
    CHECK(!ring->refuse(2, of_c, 40));
    ring->arrived(2, of_c, 40);
    CHECK(ring->refuse(2, of_c, 1) == "Chunk sent twice");
    CHECK(!ring->refuse(0, {.kind = ChunkKind::gathered, .sync = 1, .first = 0}, 40));
}

}  // namespace ako::sums_that_come_twice_test
