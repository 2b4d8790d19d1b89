// What each mode says that it costs, by formula. The simulator holds ring and local SGD to it by
// the bytes of whole runs (tests/sim/modes.cpp: check_bytes).
#include "src/modes/costs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "src/modes/make_exchange.h"
#include "src/rows/link_schedule.h"

namespace ako::costs_test {

namespace {

using Way = SentBytes::Way;

constexpr std::size_t parameters = 960;
constexpr double vector_bytes = parameters * sizeof(float);

ModeSettings settings_of(Mode mode, std::size_t peers) {
    ModeSettings settings;
    settings.peer_names.assign(peers, "p");
    settings.roles.assign(peers, Role::worker);
    settings.exchange.mode = mode;
    settings.block_elements = 16;
    return settings;
}

/// The settings of a cluster with so many workers. Servers are some of them, or come on top.
ModeSettings with_servers(std::size_t workers, std::size_t servers, Placement placement) {
    const bool dedicated = placement == Placement::dedicated;
    ModeSettings settings =
        settings_of(Mode::parameter_server, workers + (dedicated ? servers : 0));
    for (PeerIndex peer = 0; dedicated && peer < servers; ++peer)
        settings.roles[peer] = Role::server;
    settings.exchange.server.count = static_cast<unsigned>(servers);
    settings.exchange.server.placement = placement;
    return settings;
}

bool is_of(Way way, bool works, bool serves) {
    if (way == Way::of_worker) return works && !serves;
    if (way == Way::of_server) return serves && !works;
    if (way == Way::of_both) return serves && works;
    return true;
}

/// What one peer sends in a round, in vectors.
double vectors_of(const ModeSettings& settings, PeerIndex peer) {
    const bool works = settings.role(peer) == Role::worker;
    bool serves = false;
    for (const PeerIndex server : settings.servers()) serves |= server == peer;
    double bytes = 0;
    int figures = 0;
    for (const SentBytes& sent : mode_costs(settings, parameters).sent) {
        if (!is_of(sent.way, works, serves)) continue;
        bytes += sent.per_round();
        ++figures;
    }
    CHECK(figures == (settings.exchange.mode == Mode::local ? 0 : 1));
    return bytes / vector_bytes;
}

std::size_t held(const ModeCosts& costs) {
    std::size_t sum = 0;
    for (const MemoryTerm& term : costs.memory) sum += term.bytes;
    return sum;
}

}  // namespace

TEST_CASE("what each mode says that one peer sends in a round") {
    for (const std::size_t peers : {1, 2, 3, 4, 9}) {
        CAPTURE(peers);
        const auto n = static_cast<double>(peers);
        const double all_reduce = 2 * (n - 1) / n;
        for (const Mode mode : {Mode::ako, Mode::ring, Mode::parameter_server, Mode::local_sgd,
                                Mode::sma, Mode::local}) {
            ModeSettings settings = settings_of(mode, peers);
            settings.exchange.partitions = 6;
            settings.exchange.local_sgd.rounds = 4;
            settings.exchange.server.count = static_cast<unsigned>(peers);
            const double expected = mode == Mode::ako         ? (n - 1) / 6
                                    : mode == Mode::local_sgd ? all_reduce / 4
                                    : mode == Mode::local     ? 0
                                                              : all_reduce;
            for (PeerIndex peer = 0; peer < peers; ++peer)
                CHECK(vectors_of(settings, peer) == doctest::Approx(expected));
        }
    }
}

TEST_CASE("what workers push, servers answer") {
    for (const std::size_t workers : {1, 2, 5})
        for (const std::size_t servers : {1, 2, 3}) {
            CAPTURE(workers);
            CAPTURE(servers);
            const ModeSettings apart = with_servers(workers, servers, Placement::dedicated);
            for (PeerIndex peer = 0; peer < apart.peer_count(); ++peer) {
                const double share =
                    apart.role(peer) == Role::server
                        ? static_cast<double>(workers) / static_cast<double>(servers)
                        : 1.0;
                CHECK(vectors_of(apart, peer) == doctest::Approx(share));
            }
            if (servers > workers) continue;
            // Each part has one worker that keeps it itself.
            const ModeSettings together = with_servers(workers, servers, Placement::co_located);
            double sum = 0;
            for (PeerIndex peer = 0; peer < workers; ++peer) sum += vectors_of(together, peer);
            CHECK(sum == doctest::Approx(2 * (static_cast<double>(workers) - 1)));
        }
}

TEST_CASE("the mode ako says what the schedules of its links grant") {
    for (const std::size_t peers : {2, 4})
        for (const unsigned partitions : {0U, 1U, 3U, 8U}) {
            CAPTURE(peers);
            CAPTURE(partitions);
            ModeSettings settings = settings_of(Mode::ako, peers);
            settings.exchange.partitions = partitions;
            const ModeCosts costs = mode_costs(settings, parameters);
            REQUIRE(costs.sent.size() == 1);
            CHECK(costs.sent[0].at_most == (partitions == 0));

            constexpr Round rounds = 100;
            std::size_t blocks = 0;
            for (PeerIndex to = 1; to < peers; ++to) {
                LinkSchedule schedule(*costs.row, 0, to, peers);
                schedule.begin_session();
                for (Round round = 1; round <= rounds; ++round) {
                    schedule.begin_round(round, std::max(1U, partitions));
                    while (const auto run = schedule.next(1)) blocks += run->count;
                }
            }
            const double sent = static_cast<double>(blocks * settings.block_elements) * 4 / rounds;
            // At the start there is the grant of one round more, and at the end part of a block.
            CHECK(sent == doctest::Approx(costs.sent[0].bytes).epsilon(0.03));
        }
}

TEST_CASE("what a peer holds grows with the peers where it keeps something of each") {
    for (const Mode mode :
         {Mode::ako, Mode::ring, Mode::parameter_server, Mode::local_sgd, Mode::sma, Mode::local}) {
        const auto of_peers = [mode](std::size_t peers) {
            const ModeCosts costs = mode_costs(settings_of(mode, peers), parameters);
            for (const MemoryTerm& term : costs.memory) {
                CHECK(term.bytes > 0);
                CHECK(!term.formula.empty());
            }
            return held(costs);
        };
        CAPTURE(static_cast<int>(mode));
        CHECK(of_peers(2) >= 2 * parameters * sizeof(float));
        // A server keeps the pushes of all workers.
        const bool grows = mode == Mode::ako || mode == Mode::parameter_server;
        CHECK((of_peers(4) > of_peers(2)) == grows);
        CHECK(mode_costs(settings_of(mode, 2), parameters).row.has_value() == (mode == Mode::ako));
    }
}

TEST_CASE("a butterfly sends what a ring does, and more where a peer is folded in") {
    for (const Mode mode : {Mode::ring, Mode::local_sgd, Mode::sma}) {
        ModeSettings settings = settings_of(mode, 8);
        settings.exchange.local_sgd.rounds = 4;
        const ModeCosts ring = mode_costs(settings, parameters);
        settings.exchange.all_reduce = AllReduce::butterfly;
        ModeCosts butterfly = mode_costs(settings, parameters);
        REQUIRE(butterfly.sent.size() == 1);
        CHECK(butterfly.sent[0].way == Way::to_partners);
        CHECK(butterfly.sent[0].bytes == ring.sent[0].bytes);
        CHECK(butterfly.sent[0].rounds == ring.sent[0].rounds);
        CHECK(butterfly.sent[0].bytes * butterfly.sent[0].link_share == vector_bytes);
        CHECK(butterfly.memory[1].bytes == ring.memory[1].bytes - parameters * 4 * 5 / 8);

        settings.peer_names.assign(6, "p");
        butterfly = mode_costs(settings, parameters);
        REQUIRE(butterfly.sent.size() == 3);
        CHECK(butterfly.sent[0].bytes == 2.5 * vector_bytes);
        CHECK(butterfly.sent[1].bytes == 1.5 * vector_bytes);
        CHECK(butterfly.sent[2].bytes == 1.0 * vector_bytes);
    }
}

TEST_CASE("an elastic ring sends what a ring sends, and holds the sums of two syncs") {
    ModeSettings settings = settings_of(Mode::ring, 4);
    const ModeCosts ring = mode_costs(settings, parameters);
    settings.exchange.elastic = true;
    const ModeCosts elastic = mode_costs(settings, parameters);
    REQUIRE(elastic.sent.size() == 1);
    CHECK(elastic.sent[0].bytes == ring.sent[0].bytes);
    CHECK(held(elastic) == held(ring) + 2 * parameters * sizeof(float));
    CHECK(elastic.checkpoint.bytes == 0);
}

TEST_CASE("a ring that runs ahead holds the gradients that are under way as well") {
    ModeSettings settings = settings_of(Mode::ring, 4);
    const ModeCosts ring = mode_costs(settings, parameters);
    settings.exchange.rounds_ahead = 1;
    const ModeCosts ahead = mode_costs(settings, parameters);
    CHECK(ahead.sent.at(0).bytes == ring.sent.at(0).bytes);
    CHECK(held(ahead) == held(ring) + parameters * sizeof(float));
}

}  // namespace ako::costs_test
