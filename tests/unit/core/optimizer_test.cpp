// Momentum of both kinds and weight decay against the formula.
#include "src/numbers/optimizer.h"

#include <doctest/doctest.h>

using namespace ako;

namespace {

/// Follows an optimizer for 20 rounds beside `update_of(decayed, velocity)`, in double.
template <class UpdateOf>
void check_against_formula(bool nesterov, UpdateOf update_of) {
    Sgd sgd(1, 0.9, 0.01, nesterov);
    double parameter = 2;
    double velocity = 0;
    std::vector<float> update(1);
    for (int round = 1; round <= 20; ++round) {
        const std::vector<float> gradient{0.1F * static_cast<float>(round)};
        const std::vector<float> parameters{static_cast<float>(parameter)};
        const double rate = 0.05 / round;
        sgd.step({0, 1}, gradient, parameters, rate, update);
        const double decayed = 0.1 * round + 0.01 * parameter;
        velocity = 0.9 * velocity + decayed;
        const double expected = -rate * update_of(decayed, velocity);
        CHECK(update[0] == doctest::Approx(expected).epsilon(1e-5));
        parameter += expected;
    }
}

}  // namespace

TEST_CASE("momentum and weight decay as PyTorch's SGD has them") {
    check_against_formula(false, [](double, double velocity) { return velocity; });
}

TEST_CASE("Nesterov's momentum as PyTorch's SGD has it") {
    check_against_formula(true,
                          [](double decayed, double velocity) { return decayed + 0.9 * velocity; });
}

TEST_CASE("a step made at once is the same step") {
    for (const bool nesterov : {false, true}) {
        CAPTURE(nesterov);
        TrainingSettings training;
        training.momentum = 0.9;
        training.weight_decay = 0.01;
        training.nesterov = nesterov;
        Sgd one(6, 0.9, 0.01, nesterov), other(6, training);
        std::vector<float> parameters{1, -2, 3, -4, 5, -6}, applied = parameters, update(3);
        for (int round = 1; round <= 10; ++round) {
            std::vector<float> gradient(6);
            for (std::size_t k = 0; k < 6; ++k) gradient[k] = 0.3F * static_cast<float>(k) - 1;
            one.step({2, 3}, gradient, parameters, 0.05, update);
            for (std::size_t k = 0; k < 3; ++k) parameters[2 + k] += update[k];
            const std::vector<float> doubled{2 * gradient[2], 2 * gradient[3], 2 * gradient[4]};
            other.apply({2, 3}, doubled, 0.5F, std::span(applied).subspan(2, 3), 0.05);
            for (std::size_t k = 0; k < 6; ++k)
                CHECK(applied[k] == doctest::Approx(parameters[k]).epsilon(1e-6));
        }
    }
}

TEST_CASE("a rate of 0 makes no update, but the velocity goes on") {
    Sgd sgd(1, 0.5, 0, false);
    const std::vector<float> parameters{7};
    std::vector<float> update(1);
    sgd.step({0, 1}, std::vector<float>{1}, parameters, 0, update);
    CHECK(update[0] == 0);
    sgd.step({0, 1}, std::vector<float>{1}, parameters, 1, update);
    CHECK(update[0] == -1.5F);
}

TEST_CASE("a range is stepped by itself and written from the beginning of the update") {
    Sgd sgd(6, 0.5, 0, false);
    const std::vector<float> gradient{1, 2, 3, 4, 5, 6};
    const std::vector<float> parameters(6, 0);
    std::vector<float> update(2, 99);
    sgd.step({2, 2}, gradient, parameters, 1, update);
    CHECK(update == std::vector<float>{-3, -4});
    sgd.step({2, 2}, gradient, parameters, 1, update);
    CHECK(update == std::vector<float>{-4.5F, -6});
    sgd.step({4, 2}, gradient, parameters, 1, update);
    CHECK(update == std::vector<float>{-5, -6});  // no velocity yet
}
