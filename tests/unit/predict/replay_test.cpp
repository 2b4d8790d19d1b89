// The replay: rounds whose times can be told by hand.
#include "src/predict/replay.h"

#include <doctest/doctest.h>

#include "src/modes/make_exchange.h"

namespace ako::replay_test {

namespace {

constexpr std::size_t parameters = 100'000;
constexpr double vector_bytes = 4.0 * parameters;

ModeSettings settings_of(Mode mode, std::size_t peers) {
    ModeSettings settings;
    settings.peer_names.assign(peers, "p");
    settings.roles.assign(peers, Role::worker);
    settings.exchange.mode = mode;
    return settings;
}

/// One layer: a forward pass of 10 ms, a backward pass of 20.
ReplayInput input_of(const ModeSettings& settings, double byte_s) {
    ReplayInput input;
    const Range all{0, parameters};
    input.gradient = {{GradientStep::Kind::await, all, 0},
                      {GradientStep::Kind::ready, all, 0.030},
                      {GradientStep::Kind::end, {}, 0}};
    input.buckets = {all};
    input.plans = {sync_plan(settings, all)};
    for (std::size_t k = 0; k < settings.peer_count(); ++k) {
        ReplayMachine& machine = input.machines.emplace_back();
        machine.egress_s_per_byte = machine.ingress_s_per_byte = byte_s;
    }
    return input;
}

}  // namespace

TEST_CASE("a machine alone takes as long as it computes") {
    ReplayInput input = input_of(settings_of(Mode::ring, 1), 0);
    input.round_s = 0.002;
    const ReplayResult alone = replay(input);
    CHECK(alone.round_s == doctest::Approx(0.032).scale(0));
    CHECK(alone.wait_s == doctest::Approx(0).epsilon(1e-6));
}

TEST_CASE("a ring of one bucket takes computing and its bytes over the link") {
    for (const std::size_t peers : {2, 4}) {
        const double byte_s = 1e-7;  // 80 Mbit/s
        const ModeSettings settings = settings_of(Mode::ring, peers);
        const ReplayResult round = replay(input_of(settings, byte_s));
        const double sent = 2.0 * static_cast<double>(peers - 1) / static_cast<double>(peers);
        CHECK(round.round_s ==
              doctest::Approx(0.030 + sent * vector_bytes * byte_s).scale(0).epsilon(0.01));
        CHECK(round.wait_s == doctest::Approx(sent * vector_bytes * byte_s).scale(0).epsilon(0.01));
    }
}

TEST_CASE("one server's link carries what all push") {
    const double byte_s = 1e-7;
    const ReplayResult round = replay(input_of(settings_of(Mode::parameter_server, 4), byte_s));
    // Three push over its link, and while slices are answered others are still pushed.
    CHECK(round.round_s > 0.030 + 3 * vector_bytes * byte_s);
    CHECK(round.round_s < 0.030 + 3.5 * vector_bytes * byte_s);
}

TEST_CASE("a sync every so many rounds costs each its share") {
    ReplayInput input = input_of(settings_of(Mode::local_sgd, 2), 1e-7);
    input.rounds_per_sync = 4;
    CHECK(replay(input).round_s ==
          doctest::Approx(0.030 + vector_bytes * 1e-7 / 4).scale(0).epsilon(0.01));
}

TEST_CASE("what travels a round ahead hides behind computing") {
    ReplayInput input = input_of(settings_of(Mode::sma, 2), 0.5e-7);  // 20 ms of 30
    input.ahead = input.by_end = true;
    CHECK(replay(input).round_s == doctest::Approx(0.030).scale(0));
    input = input_of(settings_of(Mode::sma, 2), 2e-7);  // 80 ms
    input.ahead = input.by_end = true;
    CHECK(replay(input).round_s == doctest::Approx(0.080).scale(0).epsilon(0.01));
}

TEST_CASE("where all are alike one stands for all") {
    ModeSettings settings = settings_of(Mode::ring, 8);
    for (const bool straight : {false, true}) {
        if (straight) settings.straight_bytes_max = 4 * parameters;
        ReplayInput all = input_of(settings, 1e-7);
        all.send_s_per_byte = all.take_s_per_byte = 1e-9;
        ReplayInput one = all;
        one.machines.resize(1);
        one.plans = {*sync_plan_of_one(settings, {0, parameters})};
        CHECK(replay(one).round_s == doctest::Approx(replay(all).round_s).scale(0).epsilon(0.02));
        CHECK(replay(one).events * 4 < replay(all).events);
    }
    settings.exchange.all_reduce = AllReduce::butterfly;
    CHECK_FALSE(sync_plan_of_one(settings, {0, parameters}).has_value());
}

TEST_CASE("time goes on where it is late") {
    ReplayInput input = input_of(settings_of(Mode::ring, 2), 0.01);  // 800 bit/s
    for (ReplayMachine& machine : input.machines) {
        machine.cores = 0.3;
        machine.period_s = 0.01;
    }
    const double sent = vector_bytes * 0.01;
    CHECK(replay(input).round_s == doctest::Approx(sent + 0.030 / 0.3).epsilon(0.01).scale(0));
}

TEST_CASE("a slow machine holds up all others") {
    ReplayInput input = input_of(settings_of(Mode::ring, 3), 0);
    input.machines[1].compute_scale = 3;
    const ReplayResult round = replay(input);
    CHECK(round.round_s == doctest::Approx(0.090).scale(0).epsilon(0.01));
    CHECK(round.wait_s == doctest::Approx(0).epsilon(0.0005));  // of the slowest
}

TEST_CASE("a quota counts for layers and transport together") {
    ReplayInput input = input_of(settings_of(Mode::ring, 2), 0);
    input.send_s_per_byte = input.take_s_per_byte = 0.01 / vector_bytes;  // 20 ms in a round
    for (ReplayMachine& machine : input.machines) {
        machine.cores = 0.25;
        machine.period_s = 0.01;
    }
    CHECK(replay(input).round_s == doctest::Approx((0.030 + 0.020) / 0.25).scale(0).epsilon(0.05));
}

TEST_CASE("the slowest of many counts where times differ") {
    ReplayInput steady = input_of(settings_of(Mode::ring, 8), 0);
    ReplayInput unsteady = steady;
    unsteady.spread = 0.1;
    const double longer = replay(unsteady).round_s / replay(steady).round_s;
    CHECK(longer > 1.05);  // the mean of the largest of 8 is 1.42 standard deviations up
    CHECK(longer < 1.25);
}

}  // namespace ako::replay_test
