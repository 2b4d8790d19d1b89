// One parameter server by itself: who is answered when, and what it makes of pushes. That it equals
// one process is shown in the simulator.
#include "src/buckets/parameter_keeper.h"

#include <doctest/doctest.h>

#include <map>
#include <vector>

namespace ako::parameter_keeper_test {

namespace {

struct Bench {
    explicit Bench(std::optional<unsigned> gap, std::size_t workers = 3)
        : settings(settings_of(gap, workers)),
          buckets({}, 4),
          slices(buckets, 1),
          server(settings, slices, 0, initial,
                 [this](std::size_t worker, std::size_t) { ++answers[worker]; }) {}

    static ModeSettings settings_of(std::optional<unsigned> gap, std::size_t workers) {
        ModeSettings settings;
        settings.peer_names.assign(workers, "w");
        settings.exchange.mode = Mode::parameter_server;
        settings.exchange.server.clock_gap_max = gap;
        settings.training.learning_rate = 1;
        settings.training.momentum = 0;
        settings.training.batch.local = 1;
        settings.sample_budget = 1000;
        return settings;
    }

    void push(std::size_t worker, float value, StopReason stop = StopReason::none) {
        std::vector<float>& values = pushed[worker];
        values.assign(4, value);
        server.pushed(worker, 0, server.clock(worker, 0) + 1, values.data(), {stop, 0});
    }
    float parameter() const { return server.parameters(0)[0]; }

    const std::vector<float> initial = std::vector<float>(4, 10.0f);
    const ModeSettings settings;
    const Buckets buckets;
    const Slices slices;
    std::map<std::size_t, int> answers;
    std::map<std::size_t, std::vector<float>> pushed;
    ParameterKeeper server;
};

}  // namespace

TEST_CASE("BSP steps once all have pushed, with the mean") {
    Bench bench(0);
    bench.push(0, 1);
    bench.push(2, 3);
    CHECK(bench.answers.empty());
    CHECK(bench.parameter() == 10);
    bench.push(1, 2, StopReason::requested);
    CHECK(bench.parameter() == 8);
    for (std::size_t worker = 0; worker < 3; ++worker) CHECK(bench.answers[worker] == 1);
    CHECK(bench.server.summary(0).wish.stop == StopReason::requested);
    CHECK(bench.server.summary(0).rounds_total == 3);
    CHECK(bench.server.summary(0).workers == 3);
}

TEST_CASE("BSP goes on with those who are left") {
    Bench bench(0);
    bench.push(0, 1);
    bench.push(1, 3);
    bench.server.worker_over(2);
    CHECK(bench.parameter() == 8);
    CHECK(bench.server.summary(0).workers == 2);
    CHECK(bench.answers[0] == 1);
    CHECK(bench.answers[2] == 0);
    bench.server.finished(1, 1);
    bench.push(0, 1);
    CHECK(bench.parameter() == 7);
    CHECK(!bench.server.final_is_here());
    bench.server.finished(0, 2);
    CHECK(bench.server.final_is_here());
}

TEST_CASE("a worker that has said its last round is waited for until that has come") {
    Bench bench(0, 2);
    bench.server.finished(1, 1);
    bench.push(0, 1);
    CHECK(bench.answers.empty());
    CHECK(!bench.server.final_is_here());
    bench.push(1, 1);
    CHECK(bench.answers[0] == 1);
}

TEST_CASE("SSP answers a worker unless it would be too far ahead of the slowest") {
    Bench bench(2U);
    for (int round = 0; round < 2; ++round) bench.push(0, 0);
    CHECK(bench.answers[0] == 2);
    bench.push(0, 0);
    CHECK(bench.answers[0] == 2);  // three ahead of the others
    bench.push(1, 0);
    CHECK(bench.answers[0] == 2);
    CHECK(bench.answers[1] == 1);
    bench.push(2, 0);
    CHECK(bench.answers[0] == 3);
    CHECK(bench.answers[2] == 1);
}

TEST_CASE("SSP does not wait for a worker that is gone") {
    Bench bench(1U, 2);
    bench.push(0, 0);
    bench.push(0, 0);
    CHECK(bench.answers[0] == 1);
    bench.server.worker_over(1);
    CHECK(bench.answers[0] == 2);
}

TEST_CASE("async answers everybody at once, and n pushes step as far as one round") {
    Bench bench(std::nullopt);
    for (int round = 0; round < 9; ++round) bench.push(0, 0);
    CHECK(bench.answers[0] == 9);
    bench.push(0, 3);
    bench.push(1, 3);
    bench.push(2, 3);
    CHECK(bench.parameter() == doctest::Approx(10 - 3.0 / 9 * 3));
}

}  // namespace ako::parameter_keeper_test
