// Momentum of both kinds and weight decay against the formula.
#include "src/numbers/optimizer.h"

#include <doctest/doctest.h>

namespace ako::optimizer_test {

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
        Sgd one(6, 0.9, 0.01, nesterov), other(6, training, {});
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

TEST_CASE("LARS: a layer's step is so large beside its parameters as the rate says") {
    TrainingSettings training;
    training.optimizer = OptimizerKind::lars;
    training.trust_coefficient = 0.25;
    training.momentum = 0;
    training.weight_decay = 0.5;
    const std::vector<Range> layers{{0, 2}, {2, 3}, {5, 1}};
    Sgd sgd(6, training, layers), at_once(6, training, layers);
    CHECK(sgd.measures());
    const std::vector<float> parameters{3, 4, 1, 2, 2, 0}, gradient{6, -8, 0, 3, 4, 7};
    std::vector<float> update(6), applied = parameters;
    sgd.measure({0, 6}, gradient, 1, parameters);
    sgd.step({0, 6}, gradient, parameters, 0.1, update);
    // |w| is 5, 3 and 0; |g| 10, 5 and 7. A layer of zeros has no size.
    const double trusts[] = {0.25 * 5 / (10 + 0.5 * 5), 0.25 * 3 / (5 + 0.5 * 3), 1};
    for (std::size_t k = 0; k < 6; ++k) {
        const double trust = trusts[k < 2 ? 0 : k < 5 ? 1 : 2];
        CHECK(update[k] ==
              doctest::Approx(-0.1 * trust * (gradient[k] + 0.5 * parameters[k])).epsilon(1e-6));
    }
    // In pieces that cut layers, of half of twice the gradient, and only of layers that are whole.
    std::vector<float> doubled;
    for (const float value : gradient) doubled.push_back(2 * value);
    at_once.measure({0, 6}, doubled, 0.5F, parameters);
    at_once.measure({1, 3}, parameters, 1, gradient);
    for (const Range part : {Range{0, 1}, Range{1, 3}, Range{4, 2}})
        at_once.apply(part, std::span(doubled).subspan(part.first, part.count), 0.5F,
                      std::span(applied).subspan(part.first, part.count), 0.1);
    for (std::size_t k = 0; k < 6; ++k)
        CHECK(applied[k] == doctest::Approx(parameters[k] + update[k]).epsilon(1e-6));
    CHECK(!Sgd(6, TrainingSettings{}, layers).measures());
}

}  // namespace ako::optimizer_test
