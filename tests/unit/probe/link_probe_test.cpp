// Peers that measure the links between them, on the simulated network in virtual time.
#include "src/probe/link_probe.h"

#include <doctest/doctest.h>

#include <memory>

#include "tests/contains.h"
#include "tests/sim/sim_network.h"

namespace ako::link_probe_test {

using namespace std::chrono_literals;

/// Peers that measure in virtual time.
struct Cluster {
    explicit Cluster(std::size_t peers, std::size_t begin = 0, const ProbeTimes& times = {})
        : count(peers) {
        network.set_payload_max(64 << 10);
        std::vector<std::string> names;
        for (std::size_t peer = 0; peer < count; ++peer)
            names.push_back({static_cast<char>('a' + peer)});
        for (PeerIndex peer = 0; peer < count; ++peer) {
            transports.push_back(std::make_unique<sim::SimTransport>(network, peer, clock));
            probes.push_back(std::make_unique<LinkProbe>(peer, names, *transports.back(), clock,
                                                         times, [] {}));
        }
        for (std::size_t peer = begin; peer < count; ++peer) start(peer);
    }
    void start(std::size_t peer) {
        transports[peer]->start(*probes[peer]);
        poll(peer);
    }
    /// As often as a transport does it at least.
    void poll(std::size_t peer) {
        transports[peer]->notify();
        world.after(20ms, [this, peer] { poll(peer); });
    }
    bool run(Time limit = 300s) {
        const auto done = [&] {
            for (const auto& probe : probes)
                if (!probe->outcome().over) return false;
            return true;
        };
        return world.run(done, world.now() + limit);
    }
    PairFigures pair(PeerIndex asker, PeerIndex asked) const {
        for (const PairFigures& it : probes.back()->outcome().pairs)
            if (it.asker == asker && it.asked == asked) return it;
        FAIL("no such pair");
        return {};
    }

    std::size_t count;
    sim::World world;
    sim::Random random{1};
    sim::PeerClock clock{world, Time{0}};
    sim::SimNetwork network{world, random, count, 2s};
    std::vector<std::unique_ptr<sim::SimTransport>> transports;
    std::vector<std::unique_ptr<LinkProbe>> probes;
};

TEST_CASE("all peers learn what each link carries, and how long a word takes") {
    for (const std::size_t peers : {2, 3, 5}) {
        CAPTURE(peers);
        Cluster cluster(peers);
        for (PeerIndex from = 0; from < peers; ++from)
            for (PeerIndex to = 0; to < peers; ++to) {
                if (from == to) continue;
                cluster.network.quality(from, to).bytes_per_second = 1e6 * (1 + from);
                cluster.network.quality(from, to).delay = 5ms;
            }
        REQUIRE(cluster.run());
        for (const auto& probe : cluster.probes) {
            CHECK(probe->outcome().failure.empty());
            CHECK(probe->outcome().pairs.size() == peers * (peers - 1) / 2);
            CHECK(probe->outcome().missing.empty());
        }
        for (PeerIndex asked = 1; asked < peers; ++asked) {
            const PairFigures pair = cluster.pair(0, asked);
            // Frames carry some bytes beside the payload.
            CHECK(pair.there == doctest::Approx(1e6).scale(0).epsilon(0.02));
            CHECK(pair.back == doctest::Approx(1e6 * (1 + asked)).scale(0).epsilon(0.02));
            CHECK(pair.there_both == doctest::Approx(1e6).scale(0).epsilon(0.02));
            CHECK(pair.back_both == doctest::Approx(1e6 * (1 + asked)).scale(0).epsilon(0.02));
            CHECK(pair.round_trip >= 10ms);
            CHECK(pair.round_trip <= 11ms);
        }
    }
}

TEST_CASE("who does not come is named") {
    Cluster cluster(3, 1);
    REQUIRE_FALSE(cluster.run(55s));
    CHECK((cluster.probes[1]->outcome().missing == std::vector<PeerIndex>{0}));
    REQUIRE_FALSE(cluster.run(10s));  // the first never runs
    const ProbeOutcome outcome = cluster.probes[1]->outcome();
    CHECK(outcome.over);
    CHECK(test::contains(outcome.failure, "not all peers have come"));
    CHECK((outcome.missing == std::vector<PeerIndex>{0}));
}

TEST_CASE("who comes later is waited for") {
    Cluster cluster(3, 1);
    REQUIRE_FALSE(cluster.run(20s));
    cluster.start(0);
    REQUIRE(cluster.run());
    for (const auto& probe : cluster.probes) CHECK(probe->outcome().failure.empty());
}

TEST_CASE("a peer that is lost meanwhile ends it everywhere, with its name") {
    Cluster cluster(3);
    cluster.world.run([] { return false; }, 5s);
    cluster.network.kill(*cluster.transports[2]->end(), true);
    cluster.world.run([] { return false; }, 60s);
    for (PeerIndex peer = 0; peer < 2; ++peer) {
        const ProbeOutcome outcome = cluster.probes[peer]->outcome();
        CHECK(outcome.over);
        CHECK(test::contains(outcome.failure, "session with c ended"));
        CHECK(outcome.pairs.empty());
    }
}

TEST_CASE("who waits for others is patient for as long as they take") {
    ProbeTimes times;
    times.flood = 8s;
    REQUIRE(3 * times.flood > times.patience);
    Cluster cluster(3, 0, times);
    REQUIRE(cluster.run());
    for (const auto& probe : cluster.probes) CHECK(probe->outcome().failure.empty());
}

TEST_CASE("a process that comes in place of one that was met has missed turns") {
    Cluster cluster(3);
    LinkProbe& probe = *cluster.probes[0];
    Hello hello;
    hello.process_id = 99;
    CHECK_FALSE(probe.admit(1, hello).has_value());  // nobody has met yet
    cluster.world.run([] { return false; }, 3s);
    const auto refused = probe.admit(1, hello);
    REQUIRE(refused.has_value());
    CHECK(refused->field == "process_id");
}

TEST_CASE("what no peer says while links are measured is refused") {
    Cluster cluster(3);
    LinkProbe& probe = *cluster.probes[0];
    CHECK(test::contains(*probe.refuse(1, Status{}, 0), "a Status, which nobody sends"));
    CHECK(test::contains(*probe.refuse(1, Probe{}, 4), "payload"));
    Probe liar;
    liar.pairs.push_back({.asker = 1, .asked = 3});
    CHECK(test::contains(*probe.refuse(1, liar, 0), "no two peers of the file"));
    liar.pairs = {{.asker = 0, .asked = 2}};
    CHECK(test::contains(*probe.refuse(1, liar, 0), "of which others tell"));
    liar.pairs = {{.asker = 1, .asked = 2}};
    CHECK_FALSE(probe.refuse(1, liar, 0).has_value());
    CHECK_FALSE(probe.refuse(1, Chunk{}, 64).has_value());
}

}  // namespace ako::link_probe_test
