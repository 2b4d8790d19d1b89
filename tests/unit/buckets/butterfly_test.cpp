// A butterfly of any number of peers, whose chunks the test carries in an order and in pieces that
// it draws: sums, wishes and bytes, who has which step with whom, and what is not taken.
#include "src/buckets/butterfly.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tests/contains.h"
#include "tests/fakes/no_transport.h"
#include "tests/sim/world.h"

namespace ako::butterfly_test {

using ako::sim::Random;
using ako::test::contains;

namespace {

/// Two buckets: one with fewer elements than most clusters here have peers, and a larger one.
constexpr std::size_t elements = 1403;

struct Peer {
    Peer(PeerIndex self, std::size_t count)
        : butterfly(buckets, self, count, board, transport), values(elements), sent(count) {}

    const Buckets buckets{{{0, 3}, {3, elements - 3}}, elements, sizeof(float), 1 << 20};
    test::NoTransport transport;
    BucketBoard board{2, [] {}};
    Butterfly butterfly;
    std::vector<float> values;
    std::uint64_t sync = 0;                  ///< the newest that this peer gave to
    std::vector<std::deque<OutFrame>> sent;  ///< [to], not arrived yet
    std::uint64_t bytes = 0;
};

struct Cluster {
    Cluster(std::size_t count, std::uint64_t seed) : random(seed) {
        for (PeerIndex peer = 0; peer < count; ++peer)
            peers.push_back(std::make_unique<Peer>(peer, count));
    }

    /// Everybody's values in that sync, of both buckets; of one peer with a wish.
    void contribute(Peer& peer, Wish wish) {
        ++peer.sync;
        for (const std::size_t bucket : {1, 0})
            peer.butterfly.contributed({bucket, peer.sync, peer.values, wish});
    }
    bool complete(const Peer& peer) const {
        return peer.board.completed(0, peer.sync) && peer.board.completed(1, peer.sync);
    }
    void consume(Peer& peer) {
        for (const std::size_t bucket : {0, 1}) peer.butterfly.consumed(bucket, peer.sync);
    }
    /// One frame on its way from one peer to another, if any can move.
    void step() {
        const auto from = static_cast<PeerIndex>(random.below(peers.size()));
        const auto to = static_cast<PeerIndex>(random.below(peers.size()));
        if (from == to) return;
        auto& way = peers[from]->sent[to];
        if (random.chance(0.5) || way.empty()) {
            auto frame = peers[from]->butterfly.next(to, 4 * random.between(1, 600));
            if (frame) way.push_back(std::move(*frame));
            return;
        }
        Butterfly& receiver = peers[to]->butterfly;
        const auto& chunk = std::get<Chunk>(way.front().header);
        const std::size_t count = way.front().payload.size() / sizeof(float);
        const std::optional<std::string> complaint = receiver.refuse(from, chunk, count);
        REQUIRE_MESSAGE(!complaint, complaint.value_or(""));
        const auto place = receiver.reserve(from, chunk, count);
        if (!place) return;  // it is ahead, and waits
        std::memcpy(place->data(), way.front().payload.data(), way.front().payload.size());
        peers[from]->bytes += way.front().payload.size();
        const Chunk arrived = chunk;
        way.pop_front();
        receiver.arrived(from, arrived, count);
    }

    Random random;
    std::vector<std::unique_ptr<Peer>> peers;
};

/// What each of so many peers gives in that sync.
std::vector<std::vector<float>> draw_values(std::size_t count, std::uint64_t sync) {
    Random random(sync);
    std::vector<std::vector<float>> values(count, std::vector<float>(elements));
    for (auto& own : values)
        for (float& value : own) value = static_cast<float>(random.real(-1, 1));
    return values;
}

/// Syncs, each peer at its own pace; the sums of the first peer, by sync. `seed` decides what comes
/// when.
std::vector<std::vector<float>> run(std::size_t count, std::uint64_t seed, std::uint64_t syncs) {
    Cluster cluster(count, seed);
    std::vector<std::vector<float>> sums(syncs);
    const auto done = [&](const auto& peer) { return peer->sync == syncs + 1; };
    while (!std::ranges::all_of(cluster.peers, done)) {
        cluster.step();
        const std::size_t place = cluster.random.below(count);
        Peer& peer = *cluster.peers[place];
        if (done(cluster.peers[place]) || !cluster.random.chance(0.1)) continue;
        if (peer.sync > 0) {
            if (!cluster.complete(peer)) continue;
            const auto given = draw_values(count, peer.sync);
            CHECK(peer.values == given[place]);  // nobody has written there
            const std::span<const float> result = peer.butterfly.result();
            auto& first = sums[peer.sync - 1];
            if (first.empty()) first.assign(result.begin(), result.end());
            CHECK(std::memcmp(first.data(), result.data(), result.size_bytes()) == 0);
            // The last peer asks for a stop in the second sync.
            const StopReason stop = peer.sync == 2 ? StopReason::requested : StopReason::none;
            for (const std::size_t bucket : {0, 1})
                CHECK(peer.board.completed(bucket, peer.sync)->wish.stop == stop);
            cluster.consume(peer);
        }
        if (peer.sync == syncs) {
            ++peer.sync;
            continue;
        }
        peer.values = draw_values(count, peer.sync + 1)[place];
        const bool wishes = place + 1 == count && peer.sync == 1;
        cluster.contribute(peer, {wishes ? StopReason::requested : StopReason::none, 0});
    }
    for (PeerIndex peer = 0; peer < count; ++peer) {
        const double vectors = ButterflySteps(peer, count).sent() * static_cast<double>(syncs);
        const double sent = static_cast<double>(cluster.peers[peer]->bytes) / sizeof(float);
        // Parts of a bucket are less than an element off their share.
        CHECK(std::abs(sent - vectors * elements) <=
              4.0 * static_cast<double>(ButterflySteps(peer, count).count() * syncs));
    }
    return sums;
}

}  // namespace

TEST_CASE("all peers hold the same sums, whatever comes when, and know the same wish") {
    for (const std::size_t count : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 23}) {
        CAPTURE(count);
        const auto sums = run(count, 1, 4);
        CHECK(run(count, 2, 4) == sums);
        for (std::uint64_t sync = 1; sync <= 4; ++sync) {
            const auto values = draw_values(count, sync);
            for (std::size_t k = 0; k < elements; ++k) {
                double expected = 0;
                for (const auto& own : values) expected += static_cast<double>(own[k]);
                CHECK(static_cast<double>(sums[sync - 1][k]) ==
                      doctest::Approx(expected).epsilon(1e-4));
            }
        }
    }
}

TEST_CASE("two peers keep what the other gives, in the same step of both; parts cover a bucket") {
    const Range bucket{100, 1000};
    for (std::size_t count = 1; count <= 64; ++count) {
        CAPTURE(count);
        std::size_t held = 0;
        for (PeerIndex self = 0; self < count; ++self) {
            const ButterflySteps steps(self, count);
            Range rest = bucket;
            for (std::size_t step = 0; step < steps.count(); ++step) {
                const PeerIndex other = steps.partner(step);
                REQUIRE(other < count);
                const ButterflySteps theirs(other, count);
                const auto there = theirs.with(self);
                REQUIRE(there);
                const Range keeps = steps.keeps(step, bucket), gives = steps.gives(step, bucket);
                CHECK(keeps.count == theirs.gives(*there, bucket).count);
                if (keeps.count > 0) CHECK(keeps.first == theirs.gives(*there, bucket).first);
                CHECK(keeps.count + gives.count == rest.count);
                rest = keeps;
            }
            held += rest.count;
            CHECK(!steps.with(self));
        }
        CHECK(held == bucket.count);
    }
}

TEST_CASE("what the peers of a butterfly send and keep aside, in vectors") {
    CHECK(ButterflySteps(0, 1).sent() == 0);
    CHECK(ButterflySteps(1, 2).sent() == 1);
    CHECK(ButterflySteps(5, 8).sent() == 1.75);
    CHECK(ButterflySteps(0, 5).sent() == 2.5);
    CHECK(ButterflySteps(3, 5).sent() == 1.5);
    CHECK(ButterflySteps(4, 5).sent() == 1);
    CHECK(ButterflySteps(1, 2).kept_aside() == 0);
    CHECK(ButterflySteps(5, 8).kept_aside() == 0.375);
    CHECK(ButterflySteps(0, 5).kept_aside() == 0.75);
}

namespace {

/// Peer 1 of so many; one bucket of 120 elements.
struct Bench {
    explicit Bench(std::size_t count) : butterfly(buckets, 1, count, board, transport) {}
    std::string refused(PeerIndex from, ChunkKind kind, std::uint64_t sync, std::uint64_t first,
                        std::size_t count) const {
        const Chunk chunk{.kind = kind, .sync = sync, .first = first};
        return butterfly.refuse(from, chunk, count).value_or("");
    }
    void arrive(PeerIndex from, ChunkKind kind, std::uint64_t first, std::size_t count) {
        CHECK(refused(from, kind, 1, first, count) == "");
        const Chunk chunk{.kind = kind, .sync = 1, .first = first};
        const auto place = butterfly.reserve(from, chunk, count);
        REQUIRE(place);
        std::ranges::fill(*place, 1.0F);
        butterfly.arrived(from, chunk, count);
    }

    const Buckets buckets{{}, 120};
    const std::vector<float> values = std::vector<float>(120, 1);
    test::NoTransport transport;
    BucketBoard board{1, [] {}};
    Butterfly butterfly;
};

constexpr auto reduced = ChunkKind::reduced;
constexpr auto gathered = ChunkKind::gathered;

}  // namespace

TEST_CASE("a butterfly takes from each partner what that one's step gives, once and in order") {
    Bench bench(4);  // with 3 for 0..59, with 0 for 30..59
    CHECK(bench.refused(3, reduced, 1, 0, 60) == "");
    CHECK(bench.refused(0, reduced, 1, 30, 30) == "");
    CHECK(bench.refused(3, reduced, 2, 0, 20) == "");  // the next, which waits
    CHECK(contains(bench.refused(3, reduced, 2, 20, 20), "20 where 0 is due"));
    CHECK(contains(bench.refused(3, reduced, 3, 0, 60), "sync 3"));
    CHECK(contains(bench.refused(2, reduced, 1, 0, 30), "no partner"));
    CHECK(contains(bench.refused(3, reduced, 1, 0, 61), "not exchanged with this peer"));
    CHECK(contains(bench.refused(0, reduced, 1, 0, 30), "not exchanged with this peer"));
    CHECK(contains(bench.refused(3, reduced, 1, 30, 10), "30 where 0 is due"));
    CHECK(contains(bench.refused(3, reduced, 1, 100, 40), "outside"));
    CHECK(bench.refused(3, reduced, 1, 0, 0) != "");
    CHECK(bench.refused(3, ChunkKind::pushed, 1, 0, 60) != "");
    CHECK(contains(bench.refused(3, gathered, 1, 60, 60), "its own values"));
    // A partner that is ahead of the one before.
    bench.arrive(0, reduced, 30, 30);
    CHECK(contains(bench.refused(0, reduced, 1, 30, 1), "twice"));
    bench.arrive(3, reduced, 0, 25);
    bench.butterfly.contributed({0, 1, bench.values, {}});
    CHECK(contains(bench.refused(0, gathered, 1, 0, 30), "its own values"));  // not of this step
    bench.arrive(3, reduced, 25, 35);
    CHECK(bench.refused(0, gathered, 1, 0, 30) == "");
    bench.arrive(3, gathered, 60, 60);  // and again one that is ahead
    CHECK(!bench.board.completed(0, 1));
    bench.arrive(0, gathered, 0, 30);
    CHECK(bench.board.completed(0, 1));
    CHECK(contains(bench.refused(0, gathered, 1, 0, 30), "twice"));
    // Its own value, and what two partners gave.
    CHECK(bench.butterfly.result()[30] == 3);
}

TEST_CASE("a partner takes all of a surplus peer before its own steps, and gives it all back") {
    Bench bench(6);  // peers 4 and 5 are surplus, and 5 is folded into this one
    CHECK(bench.refused(5, reduced, 1, 0, 120) == "");
    CHECK(contains(bench.refused(4, reduced, 1, 0, 120), "no partner"));
    bench.butterfly.contributed({0, 1, bench.values, {}});
    CHECK(!bench.butterfly.next(3, 1 << 20));  // which waits for what comes of the surplus peer
    bench.arrive(5, reduced, 0, 120);
    CHECK(bench.butterfly.next(3, 1 << 20));
    CHECK(contains(bench.refused(5, gathered, 1, 0, 120), "not exchanged with this peer"));
    bench.arrive(3, reduced, 0, 60);
    bench.arrive(0, reduced, 30, 30);
    bench.arrive(0, gathered, 0, 30);
    CHECK(!bench.butterfly.next(5, 1 << 20));
    bench.arrive(3, gathered, 60, 60);
    CHECK(bench.board.completed(0, 1));
    const auto back = bench.butterfly.next(5, 1 << 20);
    REQUIRE(back);
    CHECK(std::get<Chunk>(back->header).kind == gathered);
    CHECK(back->payload.size() == 120 * sizeof(float));
}

}  // namespace ako::butterfly_test
