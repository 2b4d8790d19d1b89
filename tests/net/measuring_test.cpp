// Links measured by three peers on real threads and sockets, in one process: all come to the same,
// a limit shows in it, and who is gone ends it for all, on whatever thread that is noticed.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "ako/threads.h"
#include "src/probe/link_probe.h"
#include "tests/contains.h"
#include "tests/net/fake_peer.h"

namespace ako::measuring_test {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t peer_count = 3;

/// Seconds, and not tens of them.
ProbeTimes short_times() {
    ProbeTimes times;
    times.flood = 400ms;
    times.warm_up = 100ms;
    times.absence = 300ms;
    return times;
}

/// What changes, for the thread of the test.
struct Changes {
    template <class Predicate>
    bool wait(Predicate predicate) {
        const MutexLock lock(mutex);
        changed.wait_for(mutex, test::patience, predicate);
        return predicate();
    }
    void tell() {
        { const MutexLock lock(mutex); }
        changed.notify_all();
    }
    Mutex mutex;
    Condition changed;
};

struct Measurer {
    Measurer(PeerIndex self, Changes& changes) {
        TransportSettings settings = test::make_settings(self, peer_count);
        settings.egress_mbit_max = 80;
        settings.life_timeout_ms = 2000;
        std::vector<std::string> names;
        for (const TransportPeer& peer : settings.peers) names.push_back(peer.name);
        transport = std::make_unique<TcpTransport>(std::move(settings), test::steady_clock());
        probe = std::make_unique<LinkProbe>(self, names, *transport, test::steady_clock(),
                                            short_times(), [&changes] { changes.tell(); });
        transport->bind();
    }
    ~Measurer() { transport->stop(Time{0}); }

    std::unique_ptr<TcpTransport> transport;
    std::unique_ptr<LinkProbe> probe;
};

struct Cluster {
    Cluster() {
        for (PeerIndex self = 0; self < peer_count; ++self)
            peers.push_back(std::make_unique<Measurer>(self, changes));
        for (PeerIndex self = 0; self < peer_count; ++self)
            for (PeerIndex other = 0; other < peer_count; ++other)
                if (other != self)
                    peers[self]->transport->set_peer_address(
                        other, "127.0.0.1:" + std::to_string(peers[other]->transport->port()));
        for (const auto& peer : peers) peer->transport->start(*peer->probe);
    }
    bool over(std::size_t count) {
        return changes.wait([&] {
            for (std::size_t peer = 0; peer < count; ++peer)
                if (!peers[peer]->probe->outcome().over) return false;
            return true;
        });
    }
    Changes changes;
    std::vector<std::unique_ptr<Measurer>> peers;
};

}  // namespace

TEST_CASE("peers measure the links between them, and come to the same") {
    Cluster cluster;
    REQUIRE(cluster.over(peer_count));
    for (const auto& peer : cluster.peers) {
        const ProbeOutcome outcome = peer->probe->outcome();
        CHECK(outcome.failure.empty());
        REQUIRE(outcome.pairs.size() == 3);
        for (const PairFigures& pair : outcome.pairs) {
            CHECK(pair.round_trip > Time{0});
            for (const double rate : {pair.there, pair.back, pair.there_both, pair.back_both}) {
                CHECK(rate > 0);
                CHECK(rate < 1.1 * 80e6 / 8);  // the limit of what each sends
            }
        }
    }
}

TEST_CASE("a peer that is gone while links are measured ends it for the others") {
    Cluster cluster;
    REQUIRE(cluster.changes.wait([&] {
        return cluster.peers[0]->probe->outcome().missing.empty() &&
               cluster.peers[1]->probe->outcome().missing.empty();
    }));
    cluster.peers.pop_back();
    REQUIRE(cluster.over(peer_count - 1));
    for (const auto& peer : cluster.peers) {
        const ProbeOutcome outcome = peer->probe->outcome();
        CHECK(test::contains(outcome.failure, "while links were measured the session with"));
        CHECK(outcome.pairs.empty());
    }
}

}  // namespace ako::measuring_test
