// How long a peer takes to join a run: its links' time for the bytes, from all peers at once.
// Minutes of virtual time, of which the sanitizers would see nothing that the simulator does not
// show them.
#include <doctest/doctest.h>

#include <vector>

#include "tests/fakes/virtual_cluster.h"
#include "tests/sanitized.h"

namespace ako::catch_up_test {

using sim::ms;
using test::VirtualCluster;

namespace {

constexpr std::size_t blocks = 32;  // rows of 0.5 MB
constexpr double row_mbit = blocks * 16384 * 8 / 1e6;
constexpr PeerIndex late = 3;

/// Four peers train for 18 s, of which the last joins when the others have for a while.
struct Bench {
    explicit Bench(const std::vector<double>& mbit_from) {
        cluster.settings.sample_budget = 3 * 900;
        cluster.settings.exchange.start_wait_s = 1;
        cluster.settings.exchange.start_peers_min = 3;
        cluster.round_time = ms(20);
        for (PeerIndex from = 0; from < late; ++from) cluster.set_mbit(from, late, mbit_from[from]);
        cluster.trains = [this](PeerIndex peer) {
            if (peer != late || !began_at || trains_at) return;
            trains_at = cluster.world.now();
            for (PeerIndex owner = 0; owner < late; ++owner) {
                lowest.push_back(
                    cluster[late].half.rows().ledger().held(row_of(owner)).lowest.round);
            }
        };
    }
    /// From the first byte that could have come.
    double seconds() const { return std::chrono::duration<double>(*trains_at - *began_at).count(); }

    VirtualCluster cluster{4, blocks};
    std::optional<Time> began_at;
    std::optional<Time> trains_at;
    std::vector<Round> lowest;  ///< held of each row before its first gradient
};

double sum(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
}

const std::vector<std::vector<double>> links = {{3, 3, 3}, {1.2, 2.4, 4.8}, {0.3, 3, 3}};

}  // namespace

TEST_CASE("who comes late holds every row and has taken no longer than its links need" *
          doctest::skip(test::sanitized)) {
    for (const std::vector<double>& mbit : links) {
        CAPTURE(mbit[0]);
        Bench bench(mbit);
        bench.began_at = bench.cluster.starts_at[late] = std::chrono::seconds(6);
        REQUIRE(bench.cluster.run(std::chrono::seconds(200)));
        REQUIRE(bench.trains_at);
        for (const Round round : bench.lowest) CHECK(round > 175);  // of the 250 that were made
        const double least = 3 * row_mbit / sum(mbit);
        CHECK(bench.seconds() > 0.8 * least);
        CHECK(bench.seconds() < 1.3 * least);
        for (PeerIndex peer = 0; peer < 4; ++peer) {
            CHECK(bench.cluster[peer].report->finished_with.size() == 4);
        }
    }
}

TEST_CASE("who is restarted takes in its own row as well, of all who hold it" *
          doctest::skip(test::sanitized)) {
    for (const std::vector<double>& mbit : links) {
        CAPTURE(mbit[0]);
        Bench bench(mbit);
        bench.cluster.settings.exchange.start_wait_s = 60;
        bench.cluster.world.at(std::chrono::seconds(6), [&] { bench.cluster.kill(late, false); });
        bench.cluster.world.at(std::chrono::seconds(8), [&] {
            bench.cluster.restart(late);
            bench.began_at = bench.cluster.world.now();
        });
        REQUIRE(bench.cluster.run(std::chrono::seconds(200)));
        REQUIRE(bench.trains_at);
        const double least = 4 * row_mbit / sum(mbit);
        CHECK(bench.seconds() > 0.8 * least);
        CHECK(bench.seconds() < 1.3 * least);
    }
}

}  // namespace ako::catch_up_test
