// The network side of the modes that exchange buckets, without a network: who is named when a peer
// that is needed is gone.
#include "src/modes/bucket_traffic.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "src/exchange/links.h"
#include "src/modes/bucket_mode.h"
#include "tests/contains.h"
#include "tests/fakes/no_transport.h"

namespace ako::bucket_traffic_test {

using ako::test::contains;

namespace {

/// Peer b of a ring of a, b, c and d, in training; or of so many servers on the first of them.
struct Bench {
    explicit Bench(unsigned servers = 0) : settings(make_settings(servers)) {
        protocol = make_protocol(settings, buckets, initial, board, transport);
        traffic = std::make_unique<BucketTraffic>(settings, mailbox, board, *protocol);
        links = std::make_unique<Links>(settings, mailbox, *traffic, transport, clock);
        for (const PeerIndex peer : {0, 2, 3}) links->session_up(peer, Hello{});
        mailbox.start();
        links->poll(clock.now());
    }
    static ModeSettings make_settings(unsigned servers) {
        ModeSettings settings;
        settings.self = 1;
        settings.peer_names = {"a", "b", "c", "d"};
        settings.exchange.mode = servers == 0 ? Mode::ring : Mode::parameter_server;
        settings.exchange.server.count = servers;
        settings.sample_budget = 100 * settings.training.batch.local;
        settings.log = [](const std::string&) {};
        return settings;
    }
    void arrive(PeerIndex from, const Header& header, Time at = {}) {
        const auto destination = links->reserve(from, header, 0);
        REQUIRE(destination);
        links->arrived(from, header, *destination, at);
    }
    /// What goes to this peer last.
    Bye goodbye(PeerIndex peer) {
        mailbox.close();
        links->poll(clock.now());
        while (const auto frame = links->next(peer, 1 << 20)) {
            if (const auto* bye = std::get_if<Bye>(&frame->header)) return *bye;
        }
        FAIL("no goodbye");
        return {};
    }

    const ModeSettings settings;
    const Buckets buckets{{}, 120};
    const std::vector<float> initial = std::vector<float>(120);
    SteadyClock clock;
    test::NoTransport transport;
    Mailbox mailbox{4};
    BucketBoard board{1, [] {}};
    std::unique_ptr<BucketProtocol> protocol;
    std::unique_ptr<BucketTraffic> traffic;
    std::unique_ptr<Links> links;
};

}  // namespace

TEST_CASE("a peer whose session ends is named, here and in the goodbye to the others") {
    Bench bench;
    CHECK(bench.mailbox.broken().empty());
    bench.links->session_down(2, "closed by the peer", Time{0});
    CHECK(contains(bench.mailbox.broken(), "peer c is gone"));
    CHECK(contains(bench.mailbox.broken(), "closed by the peer"));
    CHECK(bench.goodbye(0).because_of == PeerIndex{2});
}

TEST_CASE("who leaves because of another is not taken for the one that is gone") {
    Bench bench;
    bench.arrive(3, Bye{7, PeerIndex{2}});
    CHECK(contains(bench.mailbox.broken(), "peer c is gone"));
    CHECK(contains(bench.mailbox.broken(), "so says peer d"));
    CHECK(bench.goodbye(0).because_of == PeerIndex{2});
}

TEST_CASE("who leaves for no such reason, or because it lost this peer, is named itself") {
    for (const std::optional<PeerIndex> gone : {std::optional<PeerIndex>(), {PeerIndex{1}}}) {
        Bench bench;
        bench.arrive(3, Bye{7, gone});
        CHECK(contains(bench.mailbox.broken(), "peer d is gone"));
        CHECK(contains(bench.mailbox.broken(), "it had lost this peer") == gone.has_value());
        CHECK(bench.goodbye(0).because_of == PeerIndex{3});
    }
}

namespace {

/// That peer c ended so: by itself, or by d, which cannot go on without it.
void tell_of_c(Bench& bench, const Farewell& failed, bool passed_on) {
    if (passed_on)
        bench.arrive(3, Bye{7, PeerIndex{2}, false, failed});
    else
        bench.arrive(2, Bye{7, {}, true, failed});
}

}  // namespace

TEST_CASE("a peer whose numbers failed is named with its cause, here and by who passes it on") {
    const Farewell failed{EndCause::numbers, 8, "the loss of round 8 is not finite"};
    for (const bool passed_on : {false, true}) {
        Bench bench;
        tell_of_c(bench, failed, passed_on);
        CHECK(contains(bench.mailbox.broken(), "peer c is gone"));
        CHECK(contains(bench.mailbox.broken(), "it ended at round 8: its numbers"));
        CHECK(contains(bench.mailbox.broken(), "the loss of round 8 is not finite"));
        const Next next = bench.mailbox.broken_next();
        CHECK(next.ending == Ending::numbers);
        CHECK(next.numbers_of == PeerIndex{2});
        CHECK(bench.mailbox.broken_by() == failed);
        CHECK(bench.goodbye(0).because_of == PeerIndex{2});
    }
}

TEST_CASE("a peer whose program failed is named with its cause, and so it is passed on") {
    const Farewell failed{EndCause::program, 0, "ValueError: no such column"};
    for (const bool passed_on : {false, true}) {
        Bench bench;
        tell_of_c(bench, failed, passed_on);
        CHECK(contains(bench.mailbox.broken(), passed_on ? "so says peer d: it ended: its program"
                                                         : "it ended after round 7: its program"));
        CHECK(contains(bench.mailbox.broken(), "(ValueError: no such column)"));
        CHECK(bench.mailbox.broken_next().ending == Ending::broken);
        CHECK(bench.mailbox.broken_by() == failed);
    }
}

TEST_CASE("a worker that has lost a server does not talk others out of that server") {
    Bench bench(1);
    bench.arrive(3, Bye{7, PeerIndex{0}});
    CHECK(bench.mailbox.broken().empty());
    bench.links->session_down(0, "closed by the peer", Time{0});
    CHECK(contains(bench.mailbox.broken(), "peer a is gone"));
    CHECK(contains(bench.mailbox.broken(), "closed by the peer"));
}

TEST_CASE("a server that leaves because of another is believed, for it is missed itself") {
    Bench bench(3);
    bench.arrive(2, Bye{7, PeerIndex{0}});
    CHECK(contains(bench.mailbox.broken(), "peer a is gone"));
    CHECK(contains(bench.mailbox.broken(), "so says peer c"));
}

TEST_CASE("once the exchange is broken no chunk goes out, and the goodbye does at once") {
    Bench bench;
    const std::vector<float> gradient(120);
    bench.board.contribute({0, 1, gradient, StopReason::none});
    bench.links->poll(bench.clock.now());
    REQUIRE(bench.links->next(0, 1 << 20));  // the status that a new session begins with
    const auto chunk = bench.links->next(0, 1 << 20);
    REQUIRE(chunk);
    CHECK(std::holds_alternative<Chunk>(chunk->header));
    bench.links->session_down(2, "no byte for 2000 ms", std::chrono::seconds(2));
    bench.mailbox.close();
    bench.links->poll(bench.clock.now());
    for (const PeerIndex peer : {0, 3}) {
        if (peer == 3) REQUIRE(bench.links->next(peer, 1 << 20));
        const auto last = bench.links->next(peer, 1 << 20);
        REQUIRE(last);
        CHECK(std::holds_alternative<Bye>(last->header));
        CHECK(!bench.links->next(peer, 1 << 20));
    }
}

TEST_CASE("a peer that makes rounds shows that all is well, one that only lives does not") {
    Bench bench;
    Status status;
    status.standing.progress.resize(4);
    const auto says = [&](Round round, int at_s) {
        status.standing.progress[2].round = round;
        bench.arrive(2, status, std::chrono::seconds(at_s));
    };
    says(0, 1);
    CHECK(bench.board.newest_sign_at() == Time{0});
    says(1, 2);
    CHECK(bench.board.newest_sign_at() == std::chrono::seconds(2));
    says(1, 3);
    CHECK(bench.board.newest_sign_at() == std::chrono::seconds(2));
}

TEST_CASE("however many Status come, one of each peer waits") {
    Bench bench;
    Status status;
    status.standing.progress.resize(4);
    for (Round round = 1; round <= 5; ++round) {
        status.standing.progress[2].round = round;
        bench.arrive(2, status);
        bench.arrive(3, status);
    }
    const auto frames = bench.mailbox.take();
    REQUIRE(frames.size() == 2);
    CHECK(std::get<Status>(frames[0].header).standing.progress[2].round == 5);
}

TEST_CASE("news wait for the heartbeat, unless they are urgent") {
    Bench bench;
    REQUIRE(bench.links->next(0, 1 << 20));  // the status that a new session begins with
    Status status;
    status.standing.progress.resize(4);
    bench.mailbox.post(status, false);
    bench.links->poll(bench.clock.now());
    CHECK_FALSE(bench.links->next(0, 1 << 20));
    bench.mailbox.post(status, true);
    bench.links->poll(bench.clock.now());
    CHECK(bench.links->next(0, 1 << 20));
}

TEST_CASE("a goodbye names a peer of the cluster") {
    Bench bench;
    CHECK(!bench.links->refuse(3, Bye{7, PeerIndex{3}}, 0));
    CHECK(contains(bench.links->refuse(3, Bye{7, PeerIndex{4}}, 0).value_or(""), "cluster of 4"));
    CHECK(contains(bench.links->refuse(3, Bye{108}, 0).value_or(""), "Bye.final_round is round"));
    Status status;
    status.standing.progress.resize(4);
    status.standing.progress[3] = {5, std::uint64_t{1} << 63};
    CHECK(contains(bench.links->refuse(3, status, 0).value_or(""), "samples in 5 rounds"));
}

}  // namespace ako::bucket_traffic_test
