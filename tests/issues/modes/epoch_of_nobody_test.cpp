// A member of an elastic ring could say that it knew of epoch 4,294,967,295, or of one that nobody
// is in, and all others left theirs for it and never found together again; and what it told a
// newcomer, rounds that nobody had made and samples that fell, was taken over. Since then what
// cannot be meant is refused by its name.
#include <doctest/doctest.h>

#include "src/modes/elastic_mode.h"
#include "tests/contains.h"
#include "tests/fakes/no_transport.h"

namespace ako::epoch_of_nobody_test {

using ako::test::contains;

namespace {

/// Peer b of a, b and c.
struct Bench {
    static ModeSettings settings_of() {
        ModeSettings settings;
        settings.self = 1;
        settings.peer_names = {"a", "b", "c"};
        settings.exchange.mode = Mode::ring;
        settings.exchange.elastic = true;
        settings.training.batch.local = 10;
        settings.sample_budget = 1000;  // at most 106 rounds
        settings.log = [](const std::string&) {};
        return settings;
    }
    std::string refused(const Header& header) {
        return mode.traffic()->refuse(2, header, 0).value_or("");
    }

    test::NoTransport transport;
    SteadyClock clock;
    Mailbox mailbox{3};
    const std::vector<float> initial = std::vector<float>(8);
    const ModeSettings settings = settings_of();
    ElasticMode mode{settings, Buckets({}, 8), initial, mailbox, transport, clock};
};

}  // namespace

TEST_CASE("an epoch that cannot have come about is refused") {
    Bench bench;
    Membership said;
    CHECK(bench.refused(said) == "");
    said.epoch = {3, {1, 0, 5}};
    CHECK(bench.refused(said) == "");
    said.epoch.number = UINT32_MAX;
    CHECK(contains(bench.refused(said), "epoch 4294967295 after epoch 0"));
    said.epoch = {3, {0, 0, 0}};
    CHECK(contains(bench.refused(said), "nobody is in"));
    said.epoch = {3, {}};
    CHECK(contains(bench.refused(said), "does not say who is in"));
    said.epoch = {3, {1, 5}};
    CHECK(contains(bench.refused(said), "2 peers in a cluster of 3"));
    said.epoch = {3, {1, 0, 5}};
    said.accepted_ballot = {1, 2, 5};
    CHECK(contains(bench.refused(said), "does not say who is in"));
    said.accepted = {1, 2, 5};
    CHECK(bench.refused(said) == "");
    said.accepted_ballot.number = UINT32_MAX;
    CHECK(contains(bench.refused(said), "beyond all that are made"));
}

TEST_CASE("a member cannot hold what was not begun, or begin what no run has") {
    Bench bench;
    Membership said;
    said.holding = {7, {{1, 7}}};
    CHECK(bench.refused(said) == "");
    said.holding.sums = {{1, 8}};
    CHECK(contains(bench.refused(said), "sum of sync 8, where the newest begun is 7"));
    said.holding = {std::uint64_t{1} << 40, {{1, 7}}};
    CHECK(contains(bench.refused(said), "Membership.begun is round"));
    said.holding = {7, {{2, 7}}};
    CHECK(contains(bench.refused(said), "2 buckets of 1"));
}

TEST_CASE("a newcomer is told of rounds that may be, and of samples that they give") {
    Bench bench;
    const Tally before{6, 0b111, StopReason::none, 0.5, {60, 60, 60}};
    const Tally now{7, 0b111, StopReason::none, 0.6, {70, 70, 70}};
    CHECK(bench.refused(MemberState{1, before, now}) == "");
    MemberState state{1, before, now};
    state.now.sync = std::uint64_t{1} << 40;
    CHECK(contains(bench.refused(state), "MemberState.sync is round"));
    state = {1, before, now};
    state.now.samples[1] = 71;
    CHECK(contains(bench.refused(state), "71 samples after sync 7"));
    state.now.samples[1] = 59;
    CHECK(contains(bench.refused(state), "samples fall"));
    state = {1, before, now};
    state.now.contributors = 0b1000;
    CHECK(contains(bench.refused(state), "not in the file"));
    state = {1, before, now};
    state.now.samples.pop_back();
    CHECK(contains(bench.refused(state), "other peers"));
}

}  // namespace ako::epoch_of_nobody_test
