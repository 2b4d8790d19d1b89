// The trainer's loop with learners: when it awaits, and what the exchange gets. Their threads are
// std::thread, so that this is compiled for ThreadSanitizer too.
#include <doctest/doctest.h>

#include <memory>

#include "tests/unit/training/trainer_bench.h"

namespace ako::trainer_learners_test {

using namespace ako::test::trainer;

namespace {

/// A bench with two learners, whose own first network is the bench's.
struct Together : Bench {
    Together() {
        settings.learners = 2;
        settings.batch.local = 8;
        settings.learning_rate = 1;
        settings.momentum = 0;
        settings.evaluate_every = 0;
    }
    TrainingOutcome train() {
        const auto make = [this](std::size_t) {
            auto made = std::make_unique<FakeNetwork>();
            second = made.get();
            return made;
        };
        Learners two(network, make, settings, {}, clock);
        learners = &two;
        return run();
    }

    SteadyClock clock;
    FakeNetwork* second = nullptr;
};

}  // namespace

TEST_CASE("a round of learners: gradients first, then the average is awaited, then the update") {
    Together bench;
    const TrainingOutcome outcome = bench.train();
    CHECK(outcome.ending == Ending::finished);
    CHECK(bench.exchange.events == "baebaebaebaebf");
    CHECK(bench.network.batches == std::vector<std::size_t>(4, 8));
    CHECK(bench.exchange.samples == 4 * 16);
    // From 0 and with a gradient of 1: to -1, and halfway back; the average stays where it is.
    CHECK(bench.exchange.updates == std::vector<float>{-1, -1.5F, -1.75F, -1.875F});
    REQUIRE(bench.recorder.rounds.size() == 4);
    CHECK(bench.recorder.rounds[3].learners == 2);
    CHECK(bench.recorder.rounds[3].loss == 1);
}

TEST_CASE("learners: before the averaging begins anew the average is awaited as well") {
    Together bench;
    bench.settings.schedule = {RateScheduleKind::steps, 0, {0.5}, 0.5};
    bench.train();
    CHECK(bench.exchange.events == "baebaebaaebaebf");
    CHECK(bench.exchange.updates == std::vector<float>{-1, -1.5F, -0.5F, -0.75F});
}

TEST_CASE("learners: what is not finite ends the training before anything is sent") {
    Together bench;
    bench.network.bad_round = 2;
    const TrainingOutcome outcome = bench.train();
    CHECK(outcome.ending == Ending::numbers);
    CHECK(bench.exchange.updates.size() == 1);
}

TEST_CASE("learners: what was trained on is skipped, and what is kept is of them, too") {
    Together first;
    first.exchange.rounds_max = 10;
    first.settings.epochs = 1;
    first.settings.checkpoint_every = 0.5;
    first.exchange.samples_before = 160;
    first.train();
    CHECK(first.batches.skipped == std::vector<std::uint64_t>{160});
    CHECK(first.network.skipped == std::vector<std::uint64_t>{10});
    CHECK(first.written == std::vector<Round>{5});
    CHECK(first.learners_written == std::vector<std::size_t>{1});

    Together other;
    Checkpoint lacking;
    lacking.path = "state-a-5.safetensors";
    other.exchange.restored = std::make_shared<const Checkpoint>(lacking);
    const TrainingOutcome outcome = other.train();
    CHECK(outcome.ending == Ending::failed);
    CHECK(outcome.why == "state-a-5.safetensors: the checkpoint lacks the number learners");
}

}  // namespace ako::trainer_learners_test
