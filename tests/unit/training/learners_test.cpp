// Learners, by the formulas of model averaging written out in a plain loop. Their threads are
// std::thread, so that this file is also compiled for ThreadSanitizer.
#include "src/training/learners.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "src/numbers/learning_rate.h"
#include "src/numbers/optimizer.h"
#include "tests/fakes/hand_clock.h"

namespace ako::learners_test {

namespace {

/// More than what is corrected at a time, and divided by no number of learners.
constexpr std::size_t elements = 4099;
constexpr std::size_t batch = 3;

/// A gradient that follows from parameters, the learner and how many were computed before.
void write_gradient(std::size_t learner, std::uint64_t round, std::span<const float> at,
                    std::span<float> out) {
    for (std::size_t k = 0; k < at.size(); ++k)
        out[k] = at[k] - std::sin(static_cast<float>(k + 7 * learner + 3 * round));
}

class FakeNetwork final : public Network {
  public:
    explicit FakeNetwork(std::size_t number) : number_(number) {}

    std::size_t parameter_count() const override { return elements; }
    const std::vector<Tensor>& tensors() const override { return tensors_; }
    void initialize(std::uint64_t, std::span<float>) const override {}
    float gradient(const Batch& given, std::span<const float> parameters, std::span<float> gradient,
                   const AwaitRange&, const RangeReady&) override {
        samples = given.count;
        if (takes_time) takes_time();
        write_gradient(number_, rounds_++, parameters, gradient);
        return static_cast<float>(number_);
    }
    void skip(std::uint64_t gradients, std::size_t) override { rounds_ += gradients; }
    std::optional<GradientNorms> norms() const override {
        return GradientNorms{static_cast<double>(number_), 1, 1, 1};
    }
    Evaluation evaluate(const Batch&, std::span<const float>) override { return {}; }

    std::size_t samples = 0;
    std::function<void()> takes_time;

  private:
    const std::size_t number_;
    std::uint64_t rounds_ = 0;
    const std::vector<Tensor> tensors_;
};

TrainingSettings training_with(unsigned learners) {
    TrainingSettings training;
    training.learners = learners;
    training.batch.local = batch;
    training.learning_rate = 0.1;
    training.weight_decay = 1e-3;
    training.averaging_momentum = 0.6;
    return training;
}

/// Learners whose average nobody else moves: what the mode local does with their updates.
struct Bench {
    explicit Bench(TrainingSettings of, LearnerOptions options = {})
        : training(std::move(of)),
          learners(
              first, [](std::size_t number) { return std::make_unique<FakeNetwork>(number); },
              training, std::move(options), clock) {}

    void round(double progress = 0) {
        if (learners.begins_anew(progress)) ++restarts;
        loss = learners.learn({{}, {}, learners.samples_per_round()}, average, progress);
        const std::span<const float> update = learners.correct(average);
        for (std::size_t k = 0; k < elements; ++k) average[k] += update[k];
    }

    test::HandClock clock{Time{}};
    const TrainingSettings training;
    FakeNetwork first{0};
    Learners learners;
    std::vector<float> average = std::vector<float>(elements, 0.5F);
    float loss = 0;
    int restarts = 0;
};

/// d_j = w_j - z, w_j += carried - d_j / k, z += carried + sum of d_j / k, where carried is the
/// momentum times z's own last change.
std::vector<double> by_formula(const TrainingSettings& training, std::uint64_t rounds) {
    const std::size_t count = training.learners;
    std::vector<double> z(elements, 0.5), before(z);
    std::vector<std::vector<float>> w(count, std::vector<float>(elements, 0.5F));
    std::vector<Sgd> optimizers(count, Sgd(elements, training, {}));
    std::vector<float> gradient(elements);
    const double momentum = training.averaging_momentum;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        std::vector<double> next(elements), carried(elements);
        for (std::size_t k = 0; k < elements; ++k) {
            carried[k] = momentum * (z[k] - before[k]);
            next[k] = z[k] + carried[k];
        }
        for (std::size_t j = 0; j < count; ++j) {
            write_gradient(j, round, w[j], gradient);
            optimizers[j].apply({0, elements}, gradient, 1, w[j], training.learning_rate);
            for (std::size_t k = 0; k < elements; ++k) {
                const double difference = static_cast<double>(w[j][k]) - z[k];
                const double pulled = difference / static_cast<double>(count);
                w[j][k] += static_cast<float>(carried[k] - pulled);
                next[k] += pulled;
            }
        }
        before = std::exchange(z, next);
    }
    return z;
}

}  // namespace

TEST_CASE("learners: the average moves as Crossbow's formulas say, and bit for bit again") {
    for (const unsigned count : {2U, 3U, 4U}) {
        const TrainingSettings training = training_with(count);
        Bench bench(training), again(training);
        for (int round = 0; round < 30; ++round) {
            bench.round();
            again.round();
        }
        CHECK(bench.average == again.average);
        CHECK(bench.learners.samples_per_round() == count * batch);
        CHECK(bench.loss == doctest::Approx((count - 1) / 2.0));
        const std::vector<double> expected = by_formula(training, 30);
        for (std::size_t k = 0; k < elements; ++k)
            REQUIRE(bench.average[k] == doctest::Approx(expected[k]).epsilon(1e-4));
    }
}

TEST_CASE("learners: with equal steps the average moves as far as all of them together") {
    for (const unsigned count : {2U, 4U}) {
        TrainingSettings training = training_with(count);
        training.learning_rate = 0;  // see below
        training.averaging_momentum = count / (count + 1.0);
        Bench bench(training);
        bench.round();
        // A learner that is moved by 1 in every round makes steps of 1.
        double moved = 0;
        for (int round = 0; round < 200; ++round) {
            Checkpoint kept;
            bench.learners.save(kept);
            for (unsigned learner = 0; learner < count; ++learner)
                for (float& element :
                     kept.floats["learner." + std::to_string(learner) + ".parameters"])
                    element += 1;
            REQUIRE(bench.learners.restore(kept));
            const float before = bench.average[0];
            bench.round();
            moved = static_cast<double>(bench.average[0]) - static_cast<double>(before);
        }
        CHECK(moved == doctest::Approx(count).epsilon(1e-3));
    }
}

TEST_CASE("learners: one that shares its average with none makes plain steps") {
    const TrainingSettings training = training_with(1);
    Bench bench(training);
    std::vector<float> plain(elements, 0.5F), gradient(elements);
    Sgd optimizer(elements, training, {});
    for (std::uint64_t round = 0; round < 20; ++round) {
        bench.round();
        write_gradient(0, round, plain, gradient);
        optimizer.apply({0, elements}, gradient, 1, plain, training.learning_rate);
    }
    for (std::size_t k = 0; k < elements; ++k)
        REQUIRE(bench.average[k] == doctest::Approx(plain[k]).epsilon(1e-5));
}

TEST_CASE("learners: a batch is shared out, and each tells of its noise") {
    Bench bench(training_with(2));
    bench.learners.learn({{}, {}, 7}, bench.average, 0);
    CHECK(bench.first.samples == 3);
    double of_parts = 0;
    bench.learners.visit_norms([&](const GradientNorms& norms) { of_parts += norms.of_part; });
    CHECK(of_parts == 1);  // of the learners 0 and 1
}

TEST_CASE("learners that follow are moved with the average, and their update holds nothing of it") {
    LearnerOptions follows;
    follows.follows = true;
    TrainingSettings still = training_with(2);
    still.learning_rate = 0;  // who learns nothing is moved by others alone
    Bench bench(still, follows);
    bench.round();
    for (float& element : bench.average) element += 2;
    bench.round();
    for (std::size_t k = 0; k < elements; ++k) REQUIRE(bench.average[k] == 2.5F);

    Bench pulled(still);
    pulled.round();
    for (float& element : pulled.average) element += 2;
    pulled.round();
    CHECK(pulled.average[0] == 0.5F);  // they pull it back to where they are
}

TEST_CASE("learners: when the rate falls in steps all go on from the average") {
    TrainingSettings training = training_with(2);
    training.schedule = {RateScheduleKind::steps, 0, {0.5}, 0.1};
    Bench bench(training);
    for (int round = 0; round < 5; ++round) bench.round(0.1);
    CHECK(bench.restarts == 0);
    const std::vector<float> before = bench.average;
    bench.round(0.5);
    bench.round(0.6);
    CHECK(bench.restarts == 1);

    // The same learners that begin there, with the velocities that they had.
    Bench other(training);
    for (int round = 0; round < 5; ++round) other.round(0.1);
    Checkpoint kept;
    other.learners.save(kept);
    kept.put("learners.update", std::vector<float>(elements));
    for (const char* const parameters : {"learner.0.parameters", "learner.1.parameters"})
        kept.put(parameters, before);
    Bench begun(training);
    REQUIRE(begun.learners.restore(kept));
    begun.learners.skip(5);
    begun.average = before;
    begun.round(0.5);
    begun.round(0.6);
    CHECK(begun.average == bench.average);
}

TEST_CASE(
    "learners that go on from a checkpoint come to the same bits, of another number to none") {
    Bench whole(training_with(3)), begun(training_with(3));
    for (int round = 0; round < 4; ++round) whole.round();
    Checkpoint kept;
    whole.learners.save(kept);
    REQUIRE(begun.learners.restore(kept));
    begun.learners.skip(4);
    begun.average = whole.average;
    for (int round = 0; round < 4; ++round) {
        whole.round();
        begun.round();
    }
    CHECK(begun.average == whole.average);

    Bench fewer(training_with(2));
    const Result<void> refused = fewer.learners.restore(kept);
    REQUIRE(!refused);
    CHECK(refused.error().what == "it is of 3 learners, not of 2");
    kept.floats.erase("learner.1.velocity");
    CHECK(!Bench(training_with(3)).learners.restore(kept));
}

TEST_CASE("learners: auto adds one while that is worth it, says so, and none beyond the limit") {
    std::vector<std::string> notices, details;
    LearnerOptions options;
    options.count_max = 3;
    options.notice = [&](const std::string& line) { notices.push_back(line); };
    options.detail = [&](const std::string& line) { details.push_back(line); };
    Bench bench(training_with(0), options);
    bench.first.takes_time = [&] {
        // Two learners do not hinder each other, three do.
        bench.clock.advance(std::chrono::milliseconds(bench.learners.count() == 3 ? 110 : 50));
    };
    CHECK(bench.learners.count() == 1);
    for (int round = 0; round < 100; ++round) bench.round();
    CHECK(bench.learners.count() == 2);
    CHECK(notices == std::vector<std::string>{"learners: 2 (120 samples/s instead of 60)"});
    REQUIRE(details.size() >= 3);
    CHECK(details[0] == "learners: 2 (tries one more than 1, which make 60 samples/s)");
    CHECK(details[2] == "learners: 2 (82 samples/s instead of 120 are not worth it)");

    // A new one begins at the average, and the last one goes: the others learn on.
    for (const float element : bench.average) REQUIRE(std::isfinite(element));
    Checkpoint kept;
    kept.put("learner.2.parameters", bench.average);
    kept.put("learner.2.velocity", bench.average);
    bench.learners.save(kept);
    CHECK(kept.numbers["learners"] == 2);
    CHECK(kept.floats.count("learner.1.velocity") == 1);
    CHECK(kept.floats.count("learner.2.parameters") + kept.floats.count("learner.2.velocity") == 0);
    CHECK(Bench(training_with(0)).learners.restore(kept));
}

TEST_CASE("learners: auto goes by what a peer brings to those who wait for each other") {
    const auto count_after = [](std::size_t others, std::array<int, 3> own_ms, int whole_ms) {
        LearnerOptions options;
        options.count_max = 2;
        options.peers_together = others > 0 ? 2 : 1;
        Bench bench(training_with(0), std::move(options));
        bench.first.takes_time = [&] {
            bench.clock.advance(std::chrono::milliseconds(own_ms.at(bench.learners.count())));
        };
        std::size_t before = 1;
        for (int round = 0; round < 200; ++round) {
            const std::size_t now = bench.learners.count();
            bench.learners.learn({{}, {}, bench.learners.samples_per_round()}, bench.average, 0);
            const int waits_ms = whole_ms - own_ms.at(now);
            bench.clock.advance(std::chrono::milliseconds(std::max(waits_ms, 0)));
            bench.learners.correct(bench.average, others > 0 ? others + before : 0);
            before = now;
        }
        return bench.learners.count();
    };
    // A second learner makes its own peer 1.2 times as fast, and a round 1.67 times as long.
    CHECK(count_after(0, {0, 60, 100}, 0) == 2);
    CHECK(count_after(8, {0, 60, 100}, 0) == 1);
    // It makes its own peer slower, which waits for others all the same.
    CHECK(count_after(0, {0, 60, 130}, 0) == 1);
    CHECK(count_after(8, {0, 60, 130}, 150) == 2);
}

}  // namespace ako::learners_test
