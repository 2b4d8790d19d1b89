// A process that asked to come into an elastic ring, and could not take part once it was in, was
// put out and taken in again without end, and nobody made another round: each epoch counted as a
// sign that the others get on, so that the time-outs never ended it. Since then a process comes in
// again only once a round was made without it, and epochs without a round are no sign for ever.
#include <doctest/doctest.h>

#include "src/modes/elastic_mode.h"
#include "tests/fakes/no_transport.h"

namespace ako::taken_in_again_and_again_test {

namespace {

constexpr PeerIndex a = 0, b = 1, c = 2;
constexpr Time ms = std::chrono::milliseconds(1);

/// Peer a, beside b, which has been in from the start, and c, which wants to come in.
struct Bench {
    Bench() {
        for (const PeerIndex peer : {b, c}) {
            Hello hello;
            hello.process_id = peer + 1;
            mode.traffic()->session_up(peer, hello);
        }
        own.standing.progress.resize(3);
        poll();
    }
    static ModeSettings settings_of() {
        ModeSettings settings;
        settings.self = a;
        settings.process_id = 1;
        settings.peer_names = {"a", "b", "c"};
        settings.exchange.mode = Mode::ring;
        settings.exchange.elastic = true;
        settings.exchange.finish_timeout_s = 4;
        settings.sample_budget = 6400;
        settings.log = [](const std::string&) {};
        return settings;
    }
    void poll() {
        now += 1000 * ms;
        mode.traffic()->poll({own}, now);
    }
    void say(PeerIndex from, const Membership& said) {
        mode.traffic()->arrived(from, said, {}, now);
    }
    /// b is in this epoch, has begun it, and holds what all do.
    void member_says(std::uint32_t number, std::vector<std::uint64_t> processes) {
        Membership said;
        said.epoch = {number, std::move(processes)};
        said.hears = 0b101;
        if (number > 1) said.holding = {0, {{1, 0}}};  // the first begins from nothing
        said.ready = said.whole = true;
        say(b, said);
    }
    void newcomer_asks(std::uint32_t number, std::vector<std::uint64_t> processes) {
        Membership said;
        said.epoch = {number, std::move(processes)};
        said.hears = 0b011;
        said.wants_in = true;
        say(c, said);
    }
    /// The newest that a tells b; with b, a is enough to decide the next.
    std::uint32_t epoch() {
        poll();
        while (const auto frame = mode.traffic()->next_control(b))
            if (const auto* said = std::get_if<Membership>(&frame->header))
                epoch_told = said->epoch.number;
        return epoch_told;
    }

    test::NoTransport transport;
    SteadyClock steady;
    Mailbox mailbox{3};
    const std::vector<float> initial = std::vector<float>(8);
    const ModeSettings settings = settings_of();
    ElasticMode mode{settings, Buckets({}, 8), initial, mailbox, transport, steady};
    Status own;
    std::uint32_t epoch_told = 0;
    Time now = std::chrono::seconds(10);
};

}  // namespace

TEST_CASE("who was taken in comes in again once a round was made without it") {
    Bench bench;
    bench.member_says(1, {1, 2, 0});
    CHECK(bench.epoch() == 1);
    bench.newcomer_asks(1, {1, 2, 0});
    CHECK(bench.epoch() == 2);
    bench.member_says(3, {1, 2, 0});  // it was put out
    bench.newcomer_asks(3, {1, 2, 0});
    CHECK(bench.epoch() == 3);
    CHECK(bench.epoch() == 3);
    bench.own.standing.progress[a].round = 1;
    CHECK(bench.epoch() == 4);
}

}  // namespace ako::taken_in_again_and_again_test
