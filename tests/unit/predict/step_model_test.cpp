// The step model: what it says of machines whose figures are made up.
#include "src/predict/step_model.h"

#include <doctest/doctest.h>

#include "src/predict/step_model.h"

namespace ako::step_model_test {

namespace {

constexpr std::size_t parameters = 400'000;

MachineProfile profile() {
    MachineProfile made;
    made.parameter_count = parameters;
    made.cores = 2;
    made.gradients = {{32,
                       0.030,
                       0.029,
                       0.0,
                       {{GradientStep::Kind::await, {0, parameters}, 0},
                        {GradientStep::Kind::ready, {0, parameters}, 0.030},
                        {GradientStep::Kind::end, {}, 0}}}};
    made.round_s = 0.002;
    made.exchange["ring"] = {.s_per_byte = 1e-9};
    made.exchange["ako"] = {.s_per_byte = 1e-9, .bytes_share = 0.3, .round_s = 0.001};
    return made;
}

StepQuestion question_of(const MachineProfile& made, Mode mode, std::size_t machines, double mbit) {
    StepQuestion question;
    question.mode.peer_names.assign(machines, "p");
    question.mode.roles.assign(machines, Role::worker);
    question.mode.exchange.mode = mode;
    question.batch = 32;
    question.layers = {{0, parameters}};
    question.goodput = 1;
    for (std::size_t k = 0; k < machines; ++k)
        question.machines.push_back({&made, 2, 0, mbit, mbit});
    return question;
}

}  // namespace

TEST_CASE("alone a round is what computing takes") {
    const MachineProfile made = profile();
    StepQuestion question = question_of(made, Mode::ring, 1, 0);
    CHECK(predict_step(question)->round_s == doctest::Approx(0.032).scale(0));
    question.machines[0].cores = 0.5;
    CHECK(predict_step(question)->round_s == doctest::Approx(0.064).scale(0));
}

TEST_CASE("a ring on a slow link takes its bytes, on a fast one what computing takes") {
    const MachineProfile made = profile();
    const StepAnswer slow = *predict_step(question_of(made, Mode::ring, 4, 10));
    CHECK(slow.round_s == doctest::Approx(1.5 * 4 * parameters * 8 / 10e6).scale(0).epsilon(0.05));
    CHECK(slow.limit == "links");
    const StepAnswer fast = *predict_step(question_of(made, Mode::ring, 4, 100'000));
    CHECK(fast.round_s < 0.045);
    CHECK(fast.limit == "compute");
    CHECK(fast.samples_per_s == doctest::Approx(4 * 32 / fast.round_s).scale(0));
}

TEST_CASE("in the mode ako a slow link makes no round longer") {
    const MachineProfile made = profile();
    const StepAnswer slow = *predict_step(question_of(made, Mode::ako, 4, 10));
    const StepAnswer fast = *predict_step(question_of(made, Mode::ako, 4, 1000));
    CHECK(slow.round_s <= fast.round_s);
    CHECK(slow.partitions > fast.partitions);
    CHECK(slow.bytes <= 10e6 / 8 * slow.round_s * 1.01);
}

TEST_CASE("with a slow machine the others go on in ako, and wait in a ring") {
    const MachineProfile made = profile();
    StepQuestion ako = question_of(made, Mode::ako, 4, 1000);
    StepQuestion ring = question_of(made, Mode::ring, 4, 1000);
    ako.machines[3].cores = ring.machines[3].cores = 0.25;
    const double of_ako = predict_step(ako)->samples_per_s;
    const double of_ring = predict_step(ring)->samples_per_s;
    CHECK(of_ako > 2.5 * of_ring);
}

TEST_CASE("a server that nobody waits for is not predicted") {
    const MachineProfile made = profile();
    StepQuestion question = question_of(made, Mode::parameter_server, 2, 100);
    question.mode.exchange.server.clock_gap_max = std::nullopt;
    CHECK_FALSE(predict_step(question).has_value());
}

TEST_CASE(
    "a gradient of several threads takes as long as it was timed, with a processor for each") {
    const MachineProfile made = profile();
    StepQuestion question = question_of(made, Mode::ring, 1, 0);
    question.mode.training.threads = 2;
    CHECK(predict_step(question)->round_s == doctest::Approx(0.032).scale(0));
    question.machines[0].cores = 1;
    CHECK(predict_step(question)->round_s == doctest::Approx(0.064).scale(0));
    StepQuestion ako = question_of(made, Mode::ako, 2, 1000);
    const double one = predict_step(ako)->round_s;
    ako.mode.training.threads = 2;
    CHECK(predict_step(ako)->round_s >= one);
}

}  // namespace ako::step_model_test
