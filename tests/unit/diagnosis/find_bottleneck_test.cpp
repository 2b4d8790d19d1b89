// One thing is wrong with a cluster at a time, and that is what is named.
#include "src/diagnosis/find_bottleneck.h"

#include <doctest/doctest.h>

#include "tests/unit/diagnosis/cluster.h"

namespace ako::find_bottleneck_test {

using Kind = Bottleneck::Kind;

TEST_CASE("peers that are alike have no bottleneck, however full their links are") {
    CHECK(idle_links(4).find().label() == "none");
    CHECK(free_cluster().find().label() == "none");
    CHECK(free_cluster(16).find().label() == "none");
    CHECK(ring_cluster().find().label() == "none");
    Cluster slow = ring_cluster();
    for (MetricsLine& line : slow.lines) line.usage.wait = 0.8, line.usage.gradient = 0.15;
    const Bottleneck found = slow.find();
    CHECK(found.label() == "none");
    CHECK(found.remedy.find("network of all") != std::string::npos);
}

TEST_CASE("a ring whose links are full for about the share from which that counts") {
    Cluster cluster = ring_cluster();
    const double full[] = {0.31, 0.12, 0.2, 0.14};
    for (std::size_t from = 0; from < 4; ++from) {
        cluster.way(from, (from + 1) % 4) = {full[from], 45, 2, 0};
    }
    CHECK(cluster.find().label() == "none");
}

TEST_CASE("a ring whose links are full, and in which small layers go to all") {
    Cluster cluster = ring_cluster();
    cluster.set_all_ways({0.0, 4.7, 23, 0});
    const double full[] = {0.77, 0.79, 0.78, 0.81};
    for (std::size_t from = 0; from < 4; ++from)
        cluster.way(from, (from + 1) % 4) = {full[from], 36, 17, 0};
    CHECK(cluster.find().label() == "none");
    cluster.way(1, 2) = {0.99, 36, 60, 0};
    for (const std::size_t from : {0U, 2U, 3U}) cluster.way(from, (from + 1) % 4).full = 0.1;
    CHECK(cluster.find().label() == "link b -> c");
}

TEST_CASE("servers at all peers: one narrow link fills its ends too, and it is the link") {
    Cluster cluster = idle_links(4);
    cluster.lockstep = true;
    for (MetricsLine& line : cluster.lines) line.usage.wait = 0.9;
    cluster.set_all_ways({0.06, 5.5, 9, 0});
    cluster.way(0, 1) = {0.997, 5.3, 49, 0};
    CHECK(cluster.find().label() == "link a -> b");
    for (const std::size_t to : {1U, 2U, 3U}) cluster.way(0, to) = {0.95, 5.3, 49, 0};
    CHECK(cluster.find().label() == "egress of a");
}

TEST_CASE("before anything is known there is nothing to say") {
    Cluster cluster = free_cluster();
    for (MetricsLine& line : cluster.lines) line.usage = {};
    CHECK(cluster.find().kind == Kind::unknown);
    cluster = free_cluster(2);
    cluster.lines[1].usage = {};
    CHECK(cluster.find().kind == Kind::unknown);
    CHECK(find_bottleneck({}, true).kind == Kind::unknown);
}

TEST_CASE("a peer that computes long: its processor, if it is kept from it, and itself if not") {
    Cluster cluster = free_cluster();
    Usage& used = cluster.lines[2].usage;
    used.rounds_per_s = 10;  // 80 ms of gradient per round instead of 40
    used.compute_runnable = 0.85;
    used.throttled = 0.8;
    Bottleneck found = cluster.find();
    CHECK(found.label() == "processor of c");
    CHECK(found.evidence ==
          "c computes 81 ms per round, the others 40; 85 % of the time it could run and has no "
          "processor, 80 % since its quota is spent");
    CHECK(found.remedy == "a larger quota for it, or a smaller batch");

    used.throttled = 0;
    CHECK(cluster.find().remedy.find("fewer other programs") != std::string::npos);

    used.compute_running = 0.95;
    used.compute_runnable = 0.02;
    found = cluster.find();
    CHECK(found.label() == "straggler c");
    used.rounds_per_s = 18;  // a little slower than the others is nothing
    CHECK(cluster.find().label() == "none");

    // Nor is twice as long where rounds are spent in the network.
    Cluster ring = ring_cluster();
    for (MetricsLine& line : ring.lines) {
        line.usage.rounds_per_s = 2;
        line.usage.gradient = 0.05;
        line.usage.wait = 0.94;
    }
    ring.lines[2].usage.gradient = 0.1;
    CHECK(ring.find().label() == "none");
}

TEST_CASE("pages that are read again, and batches that come late") {
    Cluster cluster = ring_cluster();
    cluster.lines[1].usage.major_faults_per_s = 400;
    cluster.lines[1].memory_bytes = 90'000'000;
    cluster.lines[1].memory_limit = 100'000'000;
    const Bottleneck found = cluster.find();
    CHECK(found.label() == "memory of b");
    CHECK(found.evidence == "b reads 400 pages a second from its disk again and holds 90 MB of the "
                            "100 MB that it may have");

    cluster = ring_cluster();
    cluster.lines[3].usage.input = 0.4;
    CHECK(cluster.find().label() == "input of d");
    for (MetricsLine& line : cluster.lines) line.usage.input = 0.3;
    CHECK(cluster.find().label() == "none");
}

TEST_CASE("ako: what one peer sends, or receives, or one link, is narrow") {
    SUBCASE("egress") {
        Cluster cluster = free_cluster();
        for (const std::size_t to : {0U, 1U, 3U}) {
            cluster.way(2, to) = {0.99, 1.6, 90, 6};
            cluster.seen(to, 2).usage.staleness_rounds = 26;
        }
        const Bottleneck found = cluster.find();
        CHECK(found.label() == "egress of c");
        CHECK(found.evidence.starts_with("what c sends comes to 4.8 Mbit/s while the way is full"));
    }
    SUBCASE("egress that is a little less full than the rest") {
        Cluster cluster = free_cluster();
        for (const std::size_t to : {0U, 1U, 3U}) {
            cluster.way(2, to) = {0.95, 1.6, 90, 6};
            cluster.seen(to, 2).usage.staleness_rounds = 26;
        }
        CHECK(cluster.find().label() == "egress of c");
    }
    SUBCASE("ingress") {
        Cluster cluster = free_cluster();
        for (const std::size_t from : {0U, 2U, 3U}) {
            cluster.way(from, 1) = {0.99, 1.6, 90, 6};
            cluster.seen(1, from).usage.staleness_rounds = 26;
        }
        CHECK(cluster.find().label() == "ingress of b");
    }
    SUBCASE("ingress that makes rows hardly twice as old") {
        Cluster cluster = free_cluster();
        for (MetricsLine& line : cluster.lines)
            for (LinkLine& link : line.links) link.usage.staleness_rounds = 7;
        const double rounds[] = {11.4, 9.5, 13.2};
        for (const std::size_t from : {0U, 1U, 2U}) {
            cluster.way(from, 3) = {0.98, 2, 50, 6};
            cluster.seen(3, from).usage.staleness_rounds = rounds[from];
        }
        CHECK(cluster.find().label() == "ingress of d");
    }
    SUBCASE("link") {
        Cluster cluster = free_cluster();
        cluster.way(0, 3) = {0.99, 1.0, 90, 6};
        cluster.seen(3, 0).usage.staleness_rounds = 40;
        CHECK(cluster.find().label() == "link a -> d");
    }
    SUBCASE("a link that carries next to nothing") {
        Cluster cluster = free_cluster();
        cluster.way(0, 3) = {1, 0.05, 90, 6};
        cluster.seen(3, 0).usage.staleness_rounds = 400;
        CHECK(cluster.find().label() == "link a -> d");
    }
    SUBCASE("where the others' links are not full") {
        Cluster cluster = free_cluster();
        cluster.set_all_ways({0.1, 15, 0.5, 6});
        for (const std::size_t to : {0U, 1U, 3U}) {
            cluster.way(2, to) = {0.99, 1.6, 90, 6};
            cluster.seen(to, 2).usage.staleness_rounds = 26;
        }
        const Bottleneck found = cluster.find();
        CHECK(found.label() == "egress of c");
        CHECK(found.evidence.ends_with("ways that are not full are usual here"));
    }
    SUBCASE("rows that are no older for it make it no bottleneck") {
        Cluster cluster = free_cluster();
        for (const std::size_t to : {0U, 1U, 3U}) cluster.way(2, to) = {0.99, 1.6, 90, 6};
        CHECK(cluster.find().label() == "none");
    }
}

TEST_CASE("who is not there says nothing of what is usual") {
    Cluster cluster = free_cluster(3);
    for (MetricsLine& line : cluster.lines) {
        for (int spare = 0; spare < 5; ++spare) {
            line.links.emplace_back();
            line.links.back().peer = "spare-" + std::to_string(spare);
        }
    }
    // Narrower than the others, and its rows are no older for it.
    cluster.way(0, 1).egress_mbit = 4;
    CHECK(cluster.find().label() == "none");
}

TEST_CASE("a ring: which of two ends is narrow is told by round trips") {
    const auto slow_link = [] {
        Cluster cluster = ring_cluster();
        for (std::size_t from = 0; from < 4; ++from) {
            cluster.lines[from].usage.wait = 0.8;
            cluster.lines[from].usage.gradient = 0.15;
            cluster.way(from, (from + 1) % 4) = {0.2, 4, 2, 0};
        }
        cluster.way(1, 2) = {0.85, 4, 60, 0};
        return cluster;
    };
    Cluster cluster = slow_link();
    CHECK(cluster.find().label() == "link b -> c");
    for (const std::size_t other : {0U, 3U}) {
        cluster.way(1, other).round_trip_ms = 55;
        cluster.way(other, 1).round_trip_ms = 55;
    }
    CHECK(cluster.find().label() == "egress of b");
    cluster = slow_link();
    for (const std::size_t other : {0U, 3U}) {
        cluster.way(2, other).round_trip_ms = 55;
        cluster.way(other, 2).round_trip_ms = 55;
    }
    CHECK(cluster.find().label() == "ingress of c");
    for (MetricsLine& line : cluster.lines) line.usage.wait = 0.1;
    CHECK(cluster.find().label() == "none");  // nobody waits for it
}

TEST_CASE("a server of its own: its processor or its network") {
    Cluster cluster = idle_links(4);
    cluster.lockstep = true;
    cluster.serves[3] = true;
    cluster.lines[3].usage = {10, 0, 0, 0, 0, 0.01, 0, 0.2, 0.1, 0, 0};
    for (const std::size_t worker : {0U, 1U, 2U}) {
        cluster.lines[worker].usage.wait = 0.6;
        cluster.lines[worker].usage.gradient = 0.35;
        cluster.way(worker, 3) = {0.2, 6, 20, 0};
        cluster.way(3, worker) = {0.25, 6, 20, 0};
    }
    CHECK(cluster.find().label() == "none");
    // All links are alike, and it is the server's that carry all.
    for (const std::size_t worker : {0U, 1U, 2U}) {
        cluster.way(worker, 3).full = 0.6;
        cluster.way(3, worker).full = 0.6;
    }
    CHECK(cluster.find().label() == "network of server d");
    cluster.lines[3].usage.network_runnable = 0.75;
    CHECK(cluster.find().label() == "processor of server d");
    cluster.lines[3].usage.network_runnable = 0.1;
    for (const std::size_t worker : {0U, 1U, 2U}) {
        cluster.way(worker, 3) = {0.05, 3, 20, 0};
        cluster.way(3, worker) = {0.9, 3, 60, 0};
    }
    CHECK(cluster.find().label() == "network of server d");
}

}  // namespace ako::find_bottleneck_test
