// With target_accuracy a run that went on from checkpoints of all peers could end after another
// round than one that nobody disturbed: what was evaluated at a checkpoint was begun a round later,
// and an evaluation that was under way there was forgotten, with the target that it had reached. So
// was a verdict that not all peers had heard of yet (bucket_compute_test.cpp).
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "tests/unit/training/trainer_bench.h"

namespace ako::test::trainer {
namespace {

/// With a target; evaluations lie across the checkpoints.
struct BenchWithTarget : Bench {
    explicit BenchWithTarget(std::size_t samples) {
        exchange.rounds_max = 60;
        settings.epochs = 3;
        settings.evaluate_every = 0.35;
        settings.checkpoint_every = 0.2;
        settings.target_accuracy = 0.99;  // half are correct
        test_samples = samples;
    }
    void go_on_from(Round round) {
        exchange.go_on_from(round);
        exchange.samples_before = round * 64;
    }
};

template <class T, class Of>
std::vector<T> from(const std::vector<T>& all, Of of_round, Round first) {
    std::vector<T> left;
    for (const T& it : all)
        if (of_round(it) >= first) left.push_back(it);
    return left;
}

TEST_CASE("issue: with a target, who goes on judges when the undisturbed run does") {
    for (const std::size_t samples : {100, 600, 1500}) {
        BenchWithTarget whole(samples);
        whole.run();
        REQUIRE(whole.written.size() > 4);
        BenchWithTarget other(samples);
        other.exchange.evaluator = false;
        other.run();
        CHECK(other.written == whole.written);  // after the same rounds
        for (const Round round : whole.written) {
            BenchWithTarget again(samples);
            again.go_on_from(round);
            again.run();
            const auto first = [](const auto& it) { return it.first; };
            CHECK(again.exchange.announced == from(whole.exchange.announced, first, round));
            const auto itself = [](Round it) { return it; };
            CHECK(again.written == from(whole.written, itself, round + 1));
        }
    }
}

TEST_CASE("issue: a target that was reached where a run goes on ends it before its first round") {
    BenchWithTarget whole(100);
    whole.settings.target_accuracy = 0.5;
    whole.run();
    REQUIRE(whole.written.size() == 1);
    BenchWithTarget again(100);
    again.settings.target_accuracy = 0.5;
    again.go_on_from(whole.written[0]);
    again.run();
    CHECK(again.recorder.rounds.empty());
    CHECK(again.exchange.standing().round == whole.exchange.standing().round);
}

}  // namespace
}  // namespace ako::test::trainer
