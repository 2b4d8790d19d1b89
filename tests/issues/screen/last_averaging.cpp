// Of local SGD a report said that a peer had sent 117 % of what its link carries: seven averagings
// in the time of six. The last one is begun when all rounds are made, and its bytes were counted
// over a time that ends with the last round. Now bytes and processor time end where the rounds do.
#include <doctest/doctest.h>

#include "src/results/metrics.h"
#include "tests/unit/core/no_transport.h"
#include "tests/unit/models/temporary_folder.h"

namespace ako {
namespace {

using std::chrono::seconds;

class HandClock final : public Clock {
  public:
    Time now() const override { return time; }
    Time time{};
};

/// To one other peer.
class CountingTransport final : public test::NoTransport {
  public:
    std::vector<LinkCounters> counters() const override {
        LinkCounters link;
        link.egress_bytes = link.ingress_bytes = bytes;
        return {{}, link};
    }
    std::uint64_t bytes = 0;
};

struct Peer {
    test::TemporaryFolder folder;
    HandClock clock;
    CountingTransport transport;
    Metrics metrics{
        folder.file("metrics"), [](const MetricsLine&) {}, [](const std::string&) {}, {"a", "b"},
        0, transport, clock};

    /// A round of 1 s in which so much is sent.
    void round(std::uint64_t bytes) {
        for (const RoundMoment moment : {RoundMoment::begun, RoundMoment::may_train,
                                         RoundMoment::gradient_begun, RoundMoment::gradient_ended})
            metrics.reached(moment);
        clock.time += seconds(1);
        transport.bytes += bytes;
        metrics.reached(RoundMoment::ended);
        metrics.round_done({});
    }
};

TEST_CASE("issue: what is sent after the last round is in no round") {
    constexpr std::uint64_t averaging = 1'000'000;
    Peer peer;
    peer.transport.bytes = 77;  // handshakes
    for (int k = 0; k < 6; ++k) peer.round(averaging);
    peer.clock.time += seconds(1);  // the seventh is waited for, with no round to belong to
    peer.transport.bytes += averaging;
    peer.metrics.stopping("");
    const auto& figures = peer.metrics.figures();
    REQUIRE(figures);
    CHECK(figures->train_seconds == 6);
    CHECK(figures->egress_bytes_per_round == averaging);
    CHECK(figures->ingress_bytes_per_round == averaging);
    CHECK(peer.metrics.egress_mbit() == 8);
    CHECK(peer.metrics.training_began() == Time{});
}

TEST_CASE("issue: what a server sends is counted over the time it serves") {
    Peer peer;
    peer.clock.time = seconds(20);  // until all were there
    peer.transport.bytes = 77;
    peer.metrics.serving();
    peer.clock.time += seconds(10);
    peer.transport.bytes += 5'000'000;
    CHECK_FALSE(peer.metrics.egress_mbit());
    peer.metrics.finished({});
    CHECK(peer.metrics.egress_mbit() == 4);
    CHECK_FALSE(peer.metrics.figures());
    CHECK_FALSE(peer.metrics.training_began());
}

}  // namespace
}  // namespace ako
