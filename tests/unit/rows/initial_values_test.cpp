// Initial parameters that all take over from the lowest peer: at the start, late, after that peer
// was restarted, over a narrow link, and when there is nobody to have them from.
#include "src/rows/initial_values.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/contains.h"
#include "tests/fakes/virtual_cluster.h"

namespace ako::initial_values_test {

using ako::test::contains;
using sim::ms;
using test::VirtualCluster;

namespace {

constexpr std::size_t blocks = 32;
constexpr float of_lowest = 3, of_others = 1e6F;

/// Three peers for some seconds, of which the lowest begins with other values than the rest.
struct Bench {
    Bench() {
        cluster.settings.initial_of_lowest = true;
        cluster.settings.sample_budget = 3 * 300;
        cluster.settings.exchange.start_wait_s = 1;
        cluster.settings.exchange.start_peers_min = 2;
        cluster.settings.log = [this](const std::string& line) { lines += line + "\n"; };
        cluster.round_time = ms(20);
        cluster.begins_with = {of_lowest, of_others, of_others};
    }
    void run() { REQUIRE_MESSAGE(cluster.run(std::chrono::seconds(200)), cluster.violation); }
    /// All have ended together with one model, which begins where the lowest peer does.
    void check_agreed() {
        for (PeerIndex peer = 0; peer < 3; ++peer) {
            CAPTURE(peer);
            REQUIRE(cluster[peer].report);
            CHECK(cluster[peer].report->agreed);
            CHECK(cluster[peer].report->identical);
            CHECK(cluster[peer].report->finished_with.size() == 3);
            std::vector<float> anchor(blocks * block_elements_default);
            cluster[peer].half.copy_parameters(anchor);
            // The gradients are 1, 2 and 3, so it has gone down, and by far less than the others'
            // values are off.
            const auto [lowest, highest] = std::minmax_element(anchor.begin(), anchor.end());
            CHECK(*highest < begin);
            CHECK(*lowest > begin - 2000);
        }
    }

    float begin = of_lowest;
    std::optional<Time> trains_at;
    std::string lines;
    VirtualCluster cluster{3, blocks};
};

}  // namespace

TEST_CASE("all begin with the initial parameters of the lowest peer") {
    Bench bench;
    SUBCASE("with good links") {}
    SUBCASE("beyond what a row may hold") { bench.begin = bench.cluster.begins_with[0] = 3e8F; }
    SUBCASE("over links that take seconds for them, and nobody trains until they have them") {
        bench.cluster.set_mbit(0, 2, 1);
        bench.cluster.set_mbit(1, 2, 1);
        bench.cluster.trains = [&bench](PeerIndex peer) {
            if (peer != 0 || bench.trains_at) return;
            bench.trains_at = bench.cluster.world.now();
        };
        bench.run();
        CHECK(*bench.trains_at > std::chrono::seconds(2));
        CHECK(contains(bench.lines, "takes over the initial parameters: 0.524 MB to come from a"));
        return bench.check_agreed();
    }
    SUBCASE("that comes last") {
        bench.cluster.settings.exchange.start_wait_s = 60;
        bench.cluster.starts_at[0] = std::chrono::seconds(5);
    }
    SUBCASE("and who comes late does, from whoever has them") {
        bench.cluster.starts_at[2] = std::chrono::seconds(4);
        bench.cluster.set_mbit(0, 2, 0.1);
    }
    bench.run();
    bench.check_agreed();
}

TEST_CASE("the lowest peer takes them over itself when it returns") {
    Bench bench;
    bench.cluster.settings.exchange.start_wait_s = 60;
    bench.cluster.world.at(std::chrono::seconds(3), [&] { bench.cluster.kill(0, false); });
    bench.cluster.world.at(std::chrono::seconds(4), [&] {
        bench.cluster.begins_with[0] = -of_others;
        bench.cluster.restart(0);
    });
    bench.run();
    bench.check_agreed();
}

TEST_CASE("without the lowest peer nobody begins, and says whom it waits for") {
    Bench bench;
    bench.cluster.settings.exchange.finish_timeout_s = 5;
    bench.cluster.starts_at[0] = std::chrono::seconds(150);
    CHECK(!bench.cluster.run(std::chrono::seconds(100)));
    CHECK(contains(bench.cluster.violation, "take over from peer a, came no nearer for 5 s"));
    for (const PeerIndex peer : {PeerIndex{1}, PeerIndex{2}})
        CHECK(bench.cluster[peer].half.round() == 0);
}

}  // namespace ako::initial_values_test
