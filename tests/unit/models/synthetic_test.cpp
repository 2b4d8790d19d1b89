// The synthetic network: its formula, its noise and its time.
#include "models/synthetic.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "models/catalog.h"
#include "models/shard.h"

namespace ako::synthetic_test {

namespace {

ModelSettings settings(std::size_t parameters, double noise, double compute_ms = 0) {
    ModelSettings result;
    result.kind = ModelKind::synthetic;
    result.parameters = parameters;
    result.noise = noise;
    result.compute_ms = compute_ms;
    return result;
}

std::vector<float> gradient_at(Network& network, const std::vector<float>& parameters,
                               float* loss = nullptr) {
    std::vector<float> gradient(parameters.size(), 1e30f);
    const float value = network.gradient({{}, {}, 64}, parameters, gradient, nullptr, nullptr);
    if (loss != nullptr) *loss = value;
    return gradient;
}

TEST_CASE("synthetic: without noise the gradient points from the optimum and the loss is known") {
    const auto network = make_network(settings(1000, 0));
    const auto optimum = synthetic_optimum(1000);
    std::vector<float> parameters(1000);
    network->initialize(1, parameters);
    float loss = 0;
    const auto gradient = gradient_at(*network, parameters, &loss);
    double squares = 0;
    for (std::size_t k = 0; k < 1000; ++k) {
        REQUIRE(gradient[k] == parameters[k] - optimum[k]);
        squares += static_cast<double>(gradient[k]) * gradient[k];
    }
    CHECK(loss == doctest::Approx(0.5 * squares / 1000));
    const Evaluation evaluation = network->evaluate({{}, {}, 64}, parameters);
    CHECK(evaluation.count == 1000);
    CHECK(evaluation.loss_sum / 1000 == doctest::Approx(loss));
}

TEST_CASE("synthetic: accuracy is the share of elements near the optimum") {
    const auto network = make_network(settings(100, 0));
    auto parameters = synthetic_optimum(100);
    CHECK(network->evaluate({{}, {}, 1}, parameters).correct == 100);
    CHECK(network->evaluate({{}, {}, 1}, parameters).loss_sum == 0);
    for (std::size_t k = 0; k < 30; ++k) parameters[k] += 0.06f;
    for (std::size_t k = 30; k < 60; ++k) parameters[k] -= 0.04f;
    CHECK(network->evaluate({{}, {}, 1}, parameters).correct == 70);
}

TEST_CASE("synthetic: noise has the given deviation, differs between rounds and seeds, repeats") {
    const std::size_t count = 20'000;
    const auto optimum = synthetic_optimum(count);
    const auto one = make_network(settings(count, 0.25), 1);
    const auto first = gradient_at(*one, optimum);
    const auto second = gradient_at(*one, optimum);
    double sum = 0, squares = 0, product = 0;
    for (std::size_t k = 0; k < count; ++k) {
        sum += first[k];
        squares += static_cast<double>(first[k]) * first[k];
        product += static_cast<double>(first[k]) * second[k];
    }
    CHECK(std::fabs(sum / count) < 0.01);
    CHECK(std::sqrt(squares / count) == doctest::Approx(0.25).epsilon(0.02));
    CHECK(std::fabs(product / squares) < 0.03);
    CHECK(gradient_at(*make_network(settings(count, 0.25), 1), optimum) == first);
    CHECK(gradient_at(*make_network(settings(count, 0.25), 2), optimum) != first);
    // A network that goes on after a round does so with the noise of the next.
    const auto resumed = make_network(settings(count, 0.25), 1);
    resumed->skip(1, 1);
    CHECK(gradient_at(*resumed, optimum) == second);
}

TEST_CASE("synthetic: takes its time, and that of the callbacks on top") {
    using namespace std::chrono;
    const auto network = make_network(settings(1000, 0.1, 20));
    std::vector<float> parameters(1000), gradient(1000);
    const auto before = steady_clock::now();
    network->gradient({{}, {}, 1}, parameters, gradient, nullptr, nullptr);
    CHECK(steady_clock::now() - before >= 20ms - 1us);  // 24 steps, each rounded to a nanosecond
    const auto start = steady_clock::now();
    network->gradient(
        {{}, {}, 1}, parameters, gradient, [](Range) { std::this_thread::sleep_for(2ms); },
        nullptr);
    CHECK(steady_clock::now() - start >= 36ms - 1us);
}

TEST_CASE("synthetic: pieces are awaited in order and finished in reverse, and cover everything") {
    for (const std::size_t count : {1u, 5u, 8u, 1003u}) {
        const auto network = make_network(settings(count, 0.1));
        std::vector<float> parameters(count), gradient(count, std::nanf(""));
        std::vector<Range> awaited, finished;
        network->gradient(
            {{}, {}, 1}, parameters, gradient, [&](Range range) { awaited.push_back(range); },
            [&](Range range) {
                for (std::size_t k = 0; k < range.count; ++k)
                    REQUIRE(std::isfinite(gradient[range.first + k]));
                finished.push_back(range);
            });
        std::size_t next = 0;
        for (const Range& range : awaited) {
            CHECK(range.first == next);
            next += range.count;
        }
        CHECK(next == count);
        CHECK(network->parameter_count() == count);
        CHECK(finished == std::vector<Range>(awaited.rbegin(), awaited.rend()));
    }
}

}  // namespace
}  // namespace ako::synthetic_test
