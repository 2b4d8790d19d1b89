// What `ako check` says of data, rounds and links; what is warned of; and how often shards were
// seen.
#include "src/commands/check_report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "ako/error.h"
#include "src/config/cluster_file.h"
#include "src/native_peer/native_peer.h"
#include "src/native_peer/network_memory.h"
#include "src/reporting/warnings.h"
#include "src/results/shard_passes.h"
#include "src/results/summary.h"
#include "src/wiring/link_safety.h"
#include "src/wiring/settings_of_mode.h"
#include "tests/contains.h"

namespace ako::check_report_test {

namespace {

using test::contains;

constexpr std::size_t lenet_parameters = 431'080;

Settings read(const std::vector<std::string>& overrides = {}) {
    return read_cluster_text(
        "run: x\nmodel: lenet\ndata: {path: d}\ntraining: {batch: 32, epochs: 1.5}\n"
        "peers: [{name: a, address: 'h:1'}, {name: b, address: 'h:2'}, {name: c, address: 'h:3'},\n"
        "  {name: d, address: 'h:4'}]\n",
        "c.yaml", overrides);
}

std::string traffic(const std::vector<std::string>& overrides) {
    const Settings settings = read(overrides);
    return traffic_report(settings, mode_costs(settings, lenet_parameters));
}

TEST_CASE("samples, samples per peer and rounds per peer") {
    const DataCounts counts{60'000, 10'000, 90'000};
    const std::string disjoint = data_report(read(), counts);
    CHECK(contains(disjoint, "60,000, and 10,000 to test on\n"));
    CHECK(contains(disjoint, "15,000, a shard of its own\n"));
    CHECK(contains(disjoint, "2,813 (90,000 samples)\n"));
    CHECK(contains(disjoint, "704 of 32 samples, if all are equally fast\n"));
    CHECK(contains(data_report(read({"data.sharding=shuffled"}), counts),
                   "60,000, all in an order of its own\n"));
    CHECK(contains(data_report(read({"model=synthetic"}), counts), "samples it stands for"));
    const std::string together = data_report(read({"training.learners=2"}), counts);
    CHECK(contains(together, "352 of 64 samples, if all are equally fast\n"));
    CHECK(contains(together, "2, with 32 samples each\n"));
    CHECK(contains(data_report(read({"training.learners=auto"}), counts), "(auto)\n"));
    // A server has no share of the data.
    const Settings served = read(
        {"exchange.mode=parameter-server", "exchange.placement=dedicated", "peers.0.role=server"});
    CHECK(contains(data_report(served, counts), "20,000, a shard of its own\n"));
    CHECK(rounds_per_peer(served, 90'000) == 938);
}

TEST_CASE("what a link carries in a round, and what the limits of the file make of it") {
    CHECK(contains(traffic({}), "1.7 MB per round at most: 13.8 Mbit/s at one round per second\n"));
    CHECK_FALSE(contains(traffic({}), "Mbit/s ("));
    CHECK(
        contains(traffic({"exchange.link_mbit=20"}),
                 "all parameters over one link in    0.69 s at 20 Mbit/s (exchange.link_mbit)\n"));
    CHECK(contains(traffic({"exchange.egress_mbit_max=30"}),
                   "1.4 s at 10 Mbit/s (exchange.egress_mbit_max, shared by 3 links)\n"));
    CHECK(contains(traffic({"exchange.partitions=8", "exchange.link_mbit=20"}),
                   "P as set, up to                    12 rounds per second at 20 Mbit/s"));
    // A ring sends 2 (n - 1) / n of M to one other: 2.59 MB, 20.7 Mbit.
    CHECK(contains(traffic({"exchange.mode=ring"}), "one link carries                   2.6 MB"));
    CHECK(contains(traffic({"exchange.mode=ring", "exchange.link_mbit=20"}),
                   "at most                            0.97 rounds per second at 20 Mbit/s"));
    CHECK(contains(
        traffic({"exchange.mode=ring", "exchange.link_limits=[{from: b, to: c, mbit: 10}]"}),
        "0.48 rounds per second at 10 Mbit/s (the link from b to c)\n"));
    // One server on a peer that trains too sends M to each of three others.
    const std::vector<std::string> server = {"exchange.mode=parameter-server",
                                             "exchange.egress_mbit_max=100"};
    CHECK(contains(traffic(server), "one link carries                   1.7 MB"));
    CHECK(contains(traffic(server),
                   "2.4 rounds per second at 100 Mbit/s (exchange.egress_mbit_max)\n"));
    CHECK_FALSE(contains(traffic({"exchange.mode=local"}), "one link"));
}

TEST_CASE("with whom training begins, who joins, and how many slots may stay empty") {
    const std::string usual = start_report(read());
    CHECK(contains(usual, "when all 4 peers are there, or after 60 s with 3 or more\n"));
    CHECK(contains(usual, "takes all rows from the others, then trains with them\n"));
    CHECK(contains(usual, "leaves its slot empty: 3 of the file's 4 peers agree at the end\n"));
    CHECK(contains(start_report(read({"exchange.start_peers_min=2"})), "with 2 or more\n"));
    CHECK(contains(start_report(read({"exchange.start_wait_s=0"})),
                   "at once, with whoever is there\n"));
    const std::string ring = start_report(read({"exchange.mode=ring"}));
    CHECK(contains(ring, "when all 4 peers are there, within 60 s\n"));
    CHECK(contains(ring, "cannot join in this mode\n"));
    const std::string elastic = start_report(read({"exchange.mode=ring", "exchange.elastic=true"}));
    CHECK(contains(elastic, "when all 4 peers are there, or after 60 s with 3 or more\n"));
    CHECK(contains(elastic, "with fewer than 3"));
    CHECK(contains(elastic, "takes parameters and momentum from the members, 2 M"));
    CHECK(start_report(read({"exchange.mode=local"})).empty());
}

std::vector<std::string> warned(const std::vector<std::string>& overrides,
                                std::uint64_t budget = 90'000) {
    return warnings(read(overrides), {lenet_parameters, budget});
}

TEST_CASE("what is accepted and hardly meant is warned of, at its place") {
    CHECK(warned({}).empty());
    CHECK(warned({"exchange.partitions=106"}).empty());
    const auto many = warned({"exchange.partitions=100000"});
    REQUIRE(many.size() == 1);
    CHECK(contains(many[0],
                   "--set exchange.partitions=100000: exchange.partitions: 100,000 for "
                   "the 106 blocks of this network: in 99,894 of 100,000 rounds a link carries "
                   "nothing"));
    CHECK(contains(warned({"exchange.partitions=107"}).at(0), "in 1 of 107 rounds"));
    CHECK(warned({"exchange.partitions=100000", "exchange.mode=ring"}).empty());
    const auto short_run = warned({}, 200);
    REQUIRE(short_run.size() == 1);
    CHECK(contains(short_run[0],
                   "c.yaml:4:31: training.epochs: the 200 samples of this run are "
                   "trained on in two rounds of each peer; raise training.epochs"));
    CHECK(contains(warned({}, 128).at(0), "in one round of each peer"));
    CHECK(warned({}, 257).empty());
    const auto turned = warned({"model={input: [3, 32, 32], layers: [flatten, dense: 10]}"});
    REQUIRE(turned.size() == 1);
    CHECK(contains(turned[0],
                   "a height of 3, a width of 32 and 32 channels; channels come last: "
                   "[32, 32, 3]"));
    const auto too_few = warned({"exchange.start_peers_min=1"});
    REQUIRE(too_few.size() == 1);
    CHECK(contains(too_few[0], "exchange.start_peers_min: 1 of"));
    CHECK(contains(too_few[0], "can agree at the end"));
    CHECK(warned({"exchange.start_peers_min=1", "exchange.mode=local"}).empty());
}

/// What is said where an error is thrown; empty: nothing was refused.
template <class Action>
std::string refused(const Action& action) {
    try {
        action();
    } catch (const StartupError& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("learners take memory each, and auto has as many as there is room for") {
    constexpr std::size_t vector = lenet_parameters * sizeof(float);
    const auto bytes = [](const std::vector<std::string>& overrides) {
        return plan_memory(read(overrides), {lenet_parameters, 0}).bytes();
    };
    // Replica, velocity, update and where in ako they follow the average.
    CHECK(bytes({"training.learners=auto"}) == bytes({}) + 4 * vector);
    const std::size_t each = bytes({"training.learners=2"}) - bytes({"training.learners=auto"});
    CHECK(each > 3 * vector);
    CHECK(bytes({"training.learners=5"}) == bytes({"training.learners=auto"}) + 4 * each);

    const Settings narrow = read({"training.learners=auto", "memory_mb_max=1"});
    const MemoryPlan plan = plan_memory(narrow, {lenet_parameters, 0});
    CHECK(learners_at_most(narrow, lenet_parameters, plan) == 1);
    const Settings wide = read({"training.learners=auto", "memory_mb_max=1000000"});
    CHECK(learners_at_most(wide, lenet_parameters, plan) ==
          std::clamp(std::thread::hardware_concurrency(), 1U, 64U));
}

TEST_CASE("what is refused late has the key that was written") {
    const auto too_large = [](const std::vector<std::string>& overrides) {
        return refused([&] { plan_memory(read(overrides), {std::size_t{1} << 40, 0}); });
    };
    CHECK(contains(too_large({}), "c.yaml:2:8: model.name: "));
    CHECK(contains(too_large({"model={input: [8, 8, 1], layers: [flatten, dense: 10]}"}),
                   ": model.layers: 1099511627776 parameters"));

    const std::string exposed = "203.0.113.7:1";
    const auto said = [](const std::vector<std::string>& overrides) {
        const Settings settings = read(overrides);
        const std::atomic<int> interrupts = 0;
        const std::string by_check = refused([&] { check_links(settings); });
        const std::string by_peer = refused([&] { NativePeer(settings, 0, {}, {}, interrupts); });
        CHECK(by_check == by_peer);
        return by_peer;
    };
    const std::string address = "--set peers.0.address=" + exposed;
    const std::string listen = "--set peers.0.listen=" + exposed;
    const std::string set_address = "peers.0.address=" + exposed;
    const std::string set_listen = "peers.0.listen=" + exposed;
    CHECK(contains(said({"model=synthetic", set_address}),
                   address + ": peers.0.address: peer a announces"));
    CHECK(contains(said({"model=synthetic", set_address, "peers.0.listen=127.0.0.1:2"}),
                   address + ": peers.0.address: peer a announces"));
    CHECK(contains(said({"model=synthetic", "peers.0.address=127.0.0.1:1", set_listen}),
                   listen + ": peers.0.listen: peer a listens on"));
    // Where nothing is said of listening, what the system refuses is the address.
    CHECK(listen_key(read(), 0) == "peers.0.address");
    CHECK(listen_key(read({"peers.0.listen=h:2"}), 0) == "peers.0.listen");
}

TEST_CASE("shards that were seen unequally often are said, with the remedy") {
    CHECK(uneven_shards_text({}) == "");
    CHECK(uneven_shards_text({{"a", 1000, 2000}, {"b", 1000, 2400}}) == "");
    CHECK(uneven_shards_text({{"a", 1000, 100}, {"b", 1000, 300}}) == "");
    const std::string text =
        uneven_shards_text({{"a", 1000, 3800}, {"b", 1000, 1300}, {"c", 1000, 2000}});
    CHECK(contains(text, "1.3 times (b) to 3.8 times (a)"));
    CHECK(contains(text, "data.sharding: shuffled"));
    // From the peer to launch, whose last words say it.
    PeerResult result;
    result.name = "a";
    result.agreed = true;
    result.accuracy = 0.5;
    result.shards = {{"a", 1000, 3800}, {"b", 1000, 1300}};
    const auto heard = parse_result_line(result_line(result));
    REQUIRE(heard.has_value());
    CHECK(heard->shards == result.shards);
    Summary summary;
    summary.peers = {*heard};
    CHECK(contains(summary.text("runs/x"), "1.3 times (b) to 3.8 times (a)"));
    summary.peers[0].shards[1].seen = 3700;
    CHECK_FALSE(contains(summary.text("runs/x"), "times ("));
}

}  // namespace
}  // namespace ako::check_report_test
