// The exchange with the modes that exchange buckets, with a clock and a network
// that the tests play: how long is waited, and how a run that cannot go on is left.
#include "src/exchange/mode_exchange.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <variant>
#include <vector>

#include "src/modes/make_exchange.h"
#include "tests/contains.h"
#include "tests/fakes/hand_clock.h"
#include "tests/fakes/no_transport.h"

namespace ako::mode_exchange_test {

using ako::test::contains;
using std::chrono::seconds;

namespace {

/// Its network thread is the caller's.
class HandTransport final : public test::NoTransport {
  public:
    explicit HandTransport(const Clock& clock) : clock_(clock) {}
    void start(TransportHost& exchange) override { host = &exchange; }
    void notify() override { host->poll(clock_.now()); }
    void stop(Time drain_until) override {
        stopped_after = drain_until - clock_.now();
        last_of_a = frames_to(0);
    }
    std::vector<Header> frames_to(PeerIndex peer) {
        std::vector<Header> headers;
        while (auto frame = host->next(peer, 1 << 20)) headers.push_back(frame->header);
        return headers;
    }

    TransportHost* host = nullptr;
    Time stopped_after{0};
    std::vector<Header> last_of_a;  ///< what peer a was sent when this was stopped

  private:
    const Clock& clock_;
};

constexpr std::size_t elements = 120;

/// Peer b of three. Whenever it waits, ten seconds pass and `meanwhile` happens.
struct Bench {
    explicit Bench(Mode mode, std::uint64_t rounds = 1000)
        : owned(make_exchange(make_settings(mode, rounds), std::vector<float>(elements), transport,
                              clock, interrupts)),
          exchange(*owned) {
        exchange.start();
        for (const PeerIndex peer : {0, 2}) {
            transport.host->session_up(peer, Hello{});
            announces(peer, 0);
        }
    }
    ModeSettings make_settings(Mode mode, std::uint64_t rounds) {
        ModeSettings settings;
        settings.self = 1;
        settings.peer_names = {"a", "b", "c"};
        settings.exchange.mode = mode;
        settings.exchange.local_sgd.rounds = 1;
        settings.exchange.finish_timeout_s = 120;
        settings.exchange.heartbeat_ms = 500;
        settings.training.batch.local = 1;
        settings.sample_budget = 3 * rounds;
        settings.log = [](const std::string&) {};
        settings.waits = [this](const auto&) {
            clock.advance(seconds(10));
            ++waits;
            if (meanwhile) meanwhile();
        };
        return settings;
    }

    void round() {
        REQUIRE(exchange.begin_round(forever)->kind == Next::Kind::train);
        REQUIRE(exchange.end_round(Gradient{gradient}, {1, 0.5F}));
    }
    /// What a peer has to say before the first round, and while nobody sends chunks.
    void announces(PeerIndex peer, Round made) {
        Status status;
        status.standing.progress.resize(3);
        status.standing.progress[peer].round = made;
        const auto destination = transport.host->reserve(peer, status, 0);
        REQUIRE(destination);
        transport.host->arrived(peer, status, *destination, clock.now());
    }

    const std::vector<float> gradient = std::vector<float>(elements, 1.0F);
    std::atomic<int> interrupts = 0;
    test::HandClock clock{seconds(1000)};
    HandTransport transport{clock};
    int waits = 0;
    std::function<void()> meanwhile;
    const std::unique_ptr<ModeExchange> owned;
    ModeExchange& exchange;
};

}  // namespace

TEST_CASE(
    "who must leave in the middle of training says because of whom, and no chunk comes first") {
    for (const Mode mode : {Mode::ring, Mode::local_sgd}) {
        Bench bench(mode);
        bench.round();
        bench.transport.host->session_down(2, "no byte for 2000 ms", std::chrono::seconds(2));
        bench.exchange.await({0, elements}, Use::read, forever);
        // Time to write it, and for others to miss c themselves.
        CHECK(bench.transport.stopped_after >= std::chrono::milliseconds(600));
        CHECK(bench.transport.stopped_after <= seconds(1));
        REQUIRE(!bench.transport.last_of_a.empty());
        for (const Header& header : bench.transport.last_of_a)
            CHECK(!std::holds_alternative<Chunk>(header));
        const auto* bye = std::get_if<Bye>(&bench.transport.last_of_a.back());
        REQUIRE(bye != nullptr);
        CHECK(bye->because_of == PeerIndex{2});
        const Next next = *bench.exchange.begin_round(forever);
        CHECK(next.ending == Ending::broken);
        CHECK(contains(next.why, "peer c is gone"));
    }
}

TEST_CASE("a test loss that is not finite is not told: the others would refuse what says it") {
    for (const Mode mode : {Mode::ring, Mode::local_sgd}) {
        Bench bench(mode);
        const auto verdict_told = [&bench] {
            bench.transport.notify();
            for (const Header& header : bench.transport.frames_to(0)) {
                const auto* status = std::get_if<Status>(&header);
                if (status != nullptr && status->standing.verdict) return true;
            }
            return false;
        };
        bench.exchange.announce({0.5, 0.1F, std::numeric_limits<float>::quiet_NaN()});
        CHECK(!verdict_told());
        bench.exchange.announce({0.5, 0.1F, 0.5F});
        CHECK(verdict_told());
    }
}

TEST_CASE("one that sends nothing is waited for as long as its rounds move") {
    Bench bench(Mode::local_sgd);
    bench.round();
    // A round every 40 s: 120 s without a chunk are nothing unusual.
    bench.meanwhile = [&] {
        bench.announces(2, static_cast<Round>(bench.waits / 4));
        if (bench.waits == 60)
            bench.transport.host->session_down(0, "the end of the test", Time{0});
    };
    bench.exchange.await({0, elements}, Use::read, forever);
    CHECK(bench.waits == 60);
    CHECK(contains(bench.exchange.begin_round(forever)->why, "the end of the test"));
}

TEST_CASE("one that lives but makes no rounds is not waited for longer than finish_timeout_s") {
    Bench bench(Mode::local_sgd);
    bench.round();
    bench.meanwhile = [&] { bench.announces(2, 1); };
    bench.exchange.await({0, elements}, Use::read, forever);
    // The round that was announced after 10 s, and 120 s from then on.
    CHECK(bench.waits == 14);
    const Next next = *bench.exchange.begin_round(forever);
    CHECK(next.ending == Ending::broken);
    CHECK(contains(next.why, "or ended a round for 120 s"));
}

TEST_CASE("the last exchange is waited for no longer either") {
    Bench bench(Mode::ring, 1);
    bench.round();
    bench.meanwhile = [&] { bench.announces(2, 1); };
    const Next next = *bench.exchange.begin_round(forever);
    CHECK(bench.waits == 14);
    CHECK(next.ending == Ending::broken);
    CHECK(contains(next.why, "or ended a round for 120 s"));
}

TEST_CASE("what is far beyond what is usual is not sent, layer by layer or as a whole") {
    for (const bool by_layers : {true, false}) {
        Bench bench(Mode::ring);
        bench.exchange.begin_round(forever);
        const std::vector<float> wild(elements, 1000.0F), usual(elements, 1.0F);
        bench.exchange.end_round(Gradient{usual}, {1, 0.5F});
        bench.transport.frames_to(2);
        // The sums of the first round never come here; of the second nothing may go.
        if (by_layers) bench.exchange.gradient_ready({0, elements}, wild);
        const Result<void> ended = bench.exchange.end_round(Gradient{wild}, {1, 0.5F});
        REQUIRE(!ended);
        CHECK(ended.error().kind == Error::Kind::numbers);
        CHECK(contains(ended.error().what, "the gradient of round 2 is far beyond what is usual"));
        for (const Header& header : bench.transport.last_of_a)
            CHECK(!std::holds_alternative<Chunk>(header));
    }
}

TEST_CASE("training.clip scales what a round gives down to that norm, and nothing up") {
    test::HandClock clock{seconds(1000)};
    HandTransport transport(clock);
    std::atomic<int> interrupts = 0;
    ModeSettings settings;
    settings.peer_names = {"a"};
    settings.exchange.mode = Mode::local;
    settings.training.clip = 2;
    settings.sample_budget = 100;
    settings.log = [](const std::string&) {};
    const auto exchange =
        make_exchange(settings, std::vector<float>(2), transport, clock, interrupts);
    const auto after = [&](std::vector<float> update) {
        REQUIRE(exchange->begin_round(forever)->kind == Next::Kind::train);
        REQUIRE(exchange->end_round(Update{update}, {1, 0.5F}));
        const std::span<const float> now = exchange->replica();
        return std::vector<double>(now.begin(), now.end());
    };
    CHECK(after({1, 0}) == std::vector<double>{1, 0});
    CHECK(after({0, -40}) == std::vector<double>{1, -2});
    CHECK(after({30, 40})[0] == doctest::Approx(1 + 1.2));
}

}  // namespace ako::mode_exchange_test
