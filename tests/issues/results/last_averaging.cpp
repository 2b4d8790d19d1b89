// A report on local SGD said that a peer had sent 117 % of what its link carries: seven averagings
// in the time of six. The last one is begun when all rounds are made, and its bytes were counted
// over a time that ends with the last round. Now bytes and processor time end where the rounds do.
#include <doctest/doctest.h>

#include "src/results/metrics.h"
#include "tests/fakes/hand_clock.h"
#include "tests/fakes/no_transport.h"
#include "tests/temporary_folder.h"

namespace ako::last_averaging {

namespace {

using std::chrono::seconds;

struct Peer {
    test::TemporaryFolder folder;
    test::HandClock clock{Time{}};
    test::NoTransport transport;
    Metrics metrics{
        folder.file("metrics"), [](const MetricsLine&) {}, [](const std::string&) {}, {"a", "b"},
        0, transport, clock};

    Peer() { transport.links.resize(2); }
    /// To the one other peer and from it.
    void count(std::uint64_t bytes) {
        transport.links[1].egress_bytes += bytes;
        transport.links[1].ingress_bytes += bytes;
    }
    /// A round of 1 s in which so much is sent.
    void round(std::uint64_t bytes) {
        for (const RoundMoment moment : {RoundMoment::begun, RoundMoment::may_train,
                                         RoundMoment::gradient_begun, RoundMoment::gradient_ended})
            metrics.reached(moment);
        clock.advance(seconds(1));
        count(bytes);
        metrics.reached(RoundMoment::ended);
        metrics.round_done({});
    }
};

TEST_CASE("issue: what is sent after the last round is in no round") {
    constexpr std::uint64_t averaging = 1'000'000;
    Peer peer;
    peer.count(77);  // handshakes
    for (int k = 0; k < 6; ++k) peer.round(averaging);
    peer.clock.advance(seconds(1));  // the seventh is waited for, with no round to belong to
    peer.count(averaging);
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
    peer.clock.set(seconds(20));  // until all were there
    peer.count(77);
    peer.metrics.serving();
    peer.clock.advance(seconds(10));
    peer.count(5'000'000);
    CHECK_FALSE(peer.metrics.egress_mbit());
    peer.metrics.finished({});
    CHECK(peer.metrics.egress_mbit() == 4);
    CHECK_FALSE(peer.metrics.figures());
    CHECK_FALSE(peer.metrics.training_began());
}

}  // namespace
}  // namespace ako::last_averaging
