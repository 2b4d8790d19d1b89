// A restarted process began its row anew, with the version numbers of its first life. Whoever had
// only heard of the first one admitted it and took its row for the continuation of the old one: the
// peers ended with a row that had lost the first life's updates, and called it identical. For a
// while it was refused. Now it adopts its own row from the others and goes on with it, under an
// incarnation that no other process can claim.
#include <doctest/doctest.h>

#include <cmath>

#include "src/exchange/incarnation.h"
#include "tests/fakes/virtual_cluster.h"

namespace ako::second_life_test {

using sim::ms;
using test::VirtualCluster;

namespace {

constexpr PeerIndex restarted = 3;
constexpr std::size_t blocks = 4;

/// Four peers, of which one dies in mid-run and is there again after this time.
struct Bench {
    explicit Bench(Time again_after) {
        cluster.settings.sample_budget = 4 * 300;
        cluster.settings.training.learning_rate = 1;
        cluster.settings.training.momentum = 0;
        cluster.settings.exchange.staleness_rounds_max = 0;  // as it was found
        cluster.trains = [this](PeerIndex peer) {
            if (peer == restarted && dead_at && !trains_at) trains_at = cluster.world.now();
        };
        cluster.world.at(ms(1000), [this] {
            dead_at = cluster.world.now();
            rounds_before = cluster[restarted].half.round();
            cluster.kill(restarted, false);
        });
        cluster.world.at(ms(1000) + again_after, [this] { cluster.restart(restarted); });
    }

    VirtualCluster cluster{4, blocks};
    std::optional<Time> dead_at;
    std::optional<Time> trains_at;
    Round rounds_before = 0;
};

}  // namespace

TEST_CASE("a restarted peer goes on with its row, and all end with the same") {
    for (const Time again_after : {ms(1), ms(300), ms(1500)}) {
        CAPTURE(again_after.count());
        Bench bench(again_after);
        REQUIRE(bench.cluster.run(std::chrono::seconds(120)));
        REQUIRE(bench.rounds_before > 50);
        REQUIRE(bench.trains_at);
        const sim::AkoPeer& peer = bench.cluster[restarted];
        const Incarnation now = first_incarnation(8) | Incarnation{1} << process_bits;
        // As far as it had come, but for what nobody had been sent.
        CHECK(peer.half.round() > bench.rounds_before + 20);
        for (PeerIndex index = 0; index < 4; ++index) {
            CAPTURE(index);
            const sim::AkoPeer& other = bench.cluster[index];
            REQUIRE(other.report);
            CHECK_MESSAGE(other.report->agreed, other.report->why_not);
            CHECK(other.report->identical);
            CHECK(other.report->finished_with.size() == 4);
            CHECK(other.report->digest == bench.cluster[0].report->digest);
            CHECK(other.report->samples[restarted] == peer.half.round());
            const Ledger& ledger = other.half.rows().ledger();
            for (BlockIndex block = 0; block < blocks; ++block) {
                CHECK(ledger.version(row_of(restarted), block) == Version{now, peer.half.round()});
                // Each of its rounds has added 4, in whichever life.
                const float sum = ledger.block(row_of(restarted), block)[0];
                CHECK(-sum > 4.0F * static_cast<float>(peer.half.round() - 12));
                CHECK(-sum <= 4.0F * static_cast<float>(peer.half.round()));
            }
        }
    }
}

}  // namespace ako::second_life_test
