// The trainer's loop, with a network, data and an exchange that write down what is asked of them.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/training/trainer_bench.h"

namespace ako::trainer_test {

using namespace ako::test::trainer;

TEST_CASE("a run: every round in order, then the final exchange and the whole test set") {
    Bench bench;
    bench.settings.evaluate_every = 0;
    const TrainingOutcome outcome = bench.run();
    CHECK(outcome.ending == Ending::finished);
    CHECK(outcome.why == "the sample budget is spent");
    CHECK(bench.exchange.events == "baawrwrebaawrwrebaawrwrebaawrwrebf");
    CHECK(bench.exchange.samples == 4 * 64);
    REQUIRE(bench.recorder.rounds.size() == 4);
    CHECK(bench.recorder.rounds[3].round == 4);
    CHECK(bench.recorder.rounds[3].progress == 1);
    CHECK(bench.recorder.stopped == outcome.why);
    CHECK(bench.recorder.finishes == 1);
    CHECK(bench.recorder.verdicts.empty());
    // In slices, each of the agreed parameters; the last is what is left.
    REQUIRE(bench.network.evaluated.size() == 4);
    CHECK(bench.network.evaluated[0] == std::pair<std::size_t, float>{256, 1000.0F});
    CHECK(bench.network.evaluated[3] == std::pair<std::size_t, float>{232, 1000.0F});
    CHECK(outcome.verdict == Verdict{1, 0.5F, 2.0F});
    CHECK(outcome.parameters == std::vector<float>(parameters, 1000.0F));
}

TEST_CASE("what an earlier process has trained on is skipped, once") {
    Bench bench;
    bench.run();
    CHECK(bench.batches.skipped.empty());
    Bench restarted;
    restarted.exchange.samples_before = 640;
    restarted.exchange.on_round = [&](Round round) {
        // In its third round another process has taken over, and got further.
        if (round == 3) restarted.exchange.samples_before += 960;
    };
    restarted.run();
    CHECK(restarted.batches.skipped == std::vector<std::uint64_t>{640, 960});
    CHECK(restarted.network.skipped == std::vector<std::uint64_t>{10, 15});
}

TEST_CASE("an evaluation is of frozen parameters, one slice per round") {
    Bench bench;
    bench.exchange.rounds_max = 10;
    bench.settings.epochs = 1;
    bench.settings.evaluate_every = 0.4;
    bench.test_samples = 600;
    bench.run();
    // The mark 0.4 is passed after round 4; three slices are evaluated after rounds 4, 5 and 6.
    // The mark 0.8 begins the next after round 8, which is complete after round 10.
    REQUIRE(bench.exchange.verdicts.size() == 2);
    CHECK(bench.exchange.verdicts[0] == Verdict{0.4, 0.5F, 2.0F});
    CHECK(bench.exchange.verdicts[1].progress == doctest::Approx(0.8));
    CHECK(bench.recorder.verdicts == bench.exchange.verdicts);
    CHECK(bench.recorder.milestones == std::vector<std::pair<Round, float>>{{4, 4.0F}, {8, 8.0F}});
    for (std::size_t i = 0; i < 6; ++i)
        CHECK(bench.network.evaluated[i].second == (i < 3 ? 4.0F : 8.0F));
    CHECK(bench.network.evaluated[2].first == 88);
}

TEST_CASE("with evaluate: after, the observer gets the parameters and nobody evaluates") {
    Bench bench;
    bench.exchange.rounds_max = 10;
    bench.settings.epochs = 1;
    bench.settings.evaluate_every = 0.4;
    bench.settings.evaluate = EvaluateWhen::after;
    bench.run();
    CHECK(bench.exchange.verdicts.empty());
    CHECK(bench.recorder.milestones == std::vector<std::pair<Round, float>>{{4, 4.0F}, {8, 8.0F}});
    CHECK(bench.network.evaluated.size() == 4);  // the end is evaluated all the same
    CHECK(bench.network.evaluated[0].second == 1000.0F);
}

TEST_CASE("the observer is told the moments of every round, in order") {
    using enum RoundMoment;
    Bench bench;
    bench.exchange.rounds_max = 1;
    bench.run();
    CHECK(bench.recorder.moments ==
          std::vector<RoundMoment>{begun, may_train, gradient_begun, await_begun, await_ended,
                                   await_begun, await_ended, await_begun, await_ended, await_begun,
                                   await_ended, gradient_ended, ended, begun});
}

TEST_CASE("who is not the evaluating peer evaluates only at the end") {
    Bench bench;
    bench.exchange.evaluator = false;
    bench.run();
    CHECK(bench.exchange.verdicts.empty());
    CHECK(bench.network.evaluated.size() == 4);
}

TEST_CASE("a checkpoint is a frozen copy with its verdict, evaluated for it where none is due") {
    Bench bench;
    bench.exchange.rounds_max = 20;
    bench.settings.epochs = 2;
    bench.settings.evaluate_every = 1;
    bench.settings.checkpoint_every = 0.5;
    bench.test_samples = 600;
    bench.run();
    // Due after rounds 5, 10 and 15 and complete two rounds later; the end has the model itself.
    REQUIRE(bench.kept.size() == 3);
    CHECK(bench.kept[0] == std::pair<float, double>{5.0F, 0.25});
    CHECK(bench.kept[1] == std::pair<float, double>{10.0F, 0.5});
    CHECK(bench.kept[2] == std::pair<float, double>{15.0F, 0.75});
    CHECK(bench.exchange.verdicts.size() == 3);
}

TEST_CASE("a checkpoint to go on from at every mark, by every peer, and the others hear of it") {
    Bench bench;
    bench.exchange.rounds_max = 20;
    bench.exchange.evaluator = false;
    bench.settings.epochs = 2;
    bench.settings.checkpoint_every = 0.5;
    bench.run();
    CHECK(bench.written == std::vector<Round>{5, 10, 15});  // at the end there is the model
    CHECK(bench.exchange.told_kept ==
          std::vector<std::vector<CheckpointId>>{{{0, 5}}, {{0, 10}}, {{0, 15}}});
    CHECK(bench.kept.empty());

    Bench after;
    after.exchange.rounds_max = 20;
    after.settings.epochs = 2;
    after.settings.evaluate_every = 0;
    after.settings.evaluate = EvaluateWhen::after;
    after.settings.checkpoint_every = 0.5;
    after.run();
    CHECK(after.written == std::vector<Round>{5, 10, 15});
    CHECK(after.recorder.milestones.empty());

    Bench unable;
    unable.exchange.rounds_max = 20;
    unable.exchange.saves = false;
    unable.settings.epochs = 1;
    unable.settings.checkpoint_every = 0.5;
    unable.run();
    CHECK(unable.exchange.saved == std::vector<Round>{10});
    CHECK(unable.written.empty());
}

TEST_CASE("a start of a run that ends before the budget keeps a checkpoint of its last round") {
    Bench bench;
    bench.exchange.rounds_max = 7;
    bench.exchange.rounds_of_budget = 14;
    bench.exchange.together = true;
    bench.settings.epochs = 2;
    bench.settings.until = 1;
    bench.run();
    CHECK(bench.written == std::vector<Round>{7});  // as it was before the end brought more

    Bench agreed;
    agreed.exchange.rounds_max = 7;
    agreed.exchange.rounds_of_budget = 14;
    agreed.settings.epochs = 2;
    agreed.settings.until = 1;
    agreed.run();
    CHECK(agreed.written == std::vector<Round>{7, 7});  // and as it is when all have agreed

    Bench sooner;  // than the share of the budget at which it was to end
    sooner.exchange.rounds_max = 6;
    sooner.exchange.rounds_of_budget = 14;
    sooner.settings.epochs = 2;
    sooner.settings.until = 1;
    sooner.run();
    CHECK(sooner.written == std::vector<Round>{6});

    Bench often;
    often.exchange.rounds_max = 20;
    often.settings.epochs = 2;
    often.settings.checkpoint_every = 0.5;
    often.settings.until = 2;
    often.run();
    CHECK(often.written == std::vector<Round>{5, 10, 15, 20});

    Bench nothing;
    nothing.exchange.fails = true;
    nothing.settings.until = 1;
    nothing.run();
    CHECK(nothing.written.empty());
}

TEST_CASE("a run that goes on does so where its data were, and passes no mark again") {
    Bench bench;
    bench.exchange.rounds_max = 20;
    bench.exchange.go_on_from(11);
    bench.exchange.samples_before = 11 * 64;
    bench.settings.epochs = 2;
    bench.settings.evaluate_every = 0.5;
    bench.settings.checkpoint_every = 1;
    bench.test_samples = 100;
    bench.run();
    CHECK(bench.batches.skipped == std::vector<std::uint64_t>{11 * 64});
    CHECK(bench.recorder.rounds.front().round == 12);
    CHECK(bench.recorder.milestones == std::vector<std::pair<Round, float>>{{15, 15.0F}});
    CHECK(bench.written.empty());
}

TEST_CASE("a run that goes on from a mark evaluates it, for the earlier one had no time for it") {
    Bench bench;
    bench.exchange.rounds_max = 20;
    bench.exchange.go_on_from(10);
    bench.exchange.samples_before = 10 * 64;
    bench.settings.epochs = 2;
    bench.settings.evaluate_every = 0.5;
    bench.settings.checkpoint_every = 1;
    bench.test_samples = 100;
    SUBCASE("and keeps its model") {
        bench.run();
        REQUIRE(bench.exchange.verdicts.size() == 2);
        CHECK(bench.exchange.verdicts[0].progress == 0.5);
        CHECK(bench.network.evaluated[0].second == 10.0F);
        CHECK(bench.kept == std::vector<std::pair<float, double>>{{10.0F, 0.5}});
    }
    SUBCASE("or keeps its parameters, with evaluate: after") {
        bench.settings.evaluate = EvaluateWhen::after;
        bench.run();
    }
    SUBCASE("as who does not evaluate leaves it") {
        bench.exchange.evaluator = false;
        bench.run();
        CHECK(bench.recorder.milestones.empty());
        return;
    }
    CHECK(bench.recorder.milestones ==
          std::vector<std::pair<Round, float>>{{10, 10.0F}, {15, 15.0F}});
    CHECK(bench.written.empty());  // it has the checkpoint
}

TEST_CASE("no model by one that does not evaluate, nor of what has diverged") {
    Bench idle;
    idle.exchange.evaluator = false;
    idle.settings.checkpoint_every = 0.25;
    idle.run();
    CHECK(idle.kept.empty());

    Bench diverged;
    diverged.exchange.rounds_max = 20;
    diverged.settings.checkpoint_every = 0.25;
    diverged.test_samples = 100;
    diverged.network.image_loss = std::numeric_limits<double>::quiet_NaN();
    diverged.run();
    CHECK(diverged.exchange.verdicts.size() == 3);
    CHECK(diverged.kept.empty());
}

TEST_CASE("the target accuracy stops all") {
    Bench bench;
    bench.exchange.rounds_max = 100;
    bench.settings.evaluate_every = 0.1;
    bench.settings.target_accuracy = 0.5;
    bench.test_samples = 100;
    bench.run();
    CHECK(bench.exchange.stop == StopReason::target_reached);
    CHECK(bench.exchange.standing().round == 10);
}

TEST_CASE("an interrupt, which the exchange heeds, is how the run ended") {
    Bench bench;
    bench.settings.evaluate_every = 0;
    bench.exchange.on_round = [&](Round round) {
        if (round != 2) return;
        bench.interrupts = 1;
        bench.exchange.stop = StopReason::requested;
    };
    SUBCASE("with the others") {
        const TrainingOutcome outcome = bench.run();
        CHECK(outcome.ending == Ending::interrupted);
        CHECK(outcome.parameters.size() == parameters);
    }
    SUBCASE("without them: what is judged and kept, they judge and keep") {
        bench.exchange.agrees = false;
        bench.exchange.outcome.left = true;
        const TrainingOutcome outcome = bench.run();
        CHECK(outcome.ending == Ending::left);
        CHECK(outcome.parameters.empty());
        CHECK(bench.network.evaluated.empty());
        CHECK(bench.recorder.finishes == 1);
    }
    CHECK(bench.exchange.standing().round == 2);
    CHECK(bench.exchange.events.back() == 'f');
}

TEST_CASE("who stops because another was asked to has an ending of its own, if it is early") {
    Bench bench;
    bench.exchange.stop = StopReason::requested;
    bench.exchange.outcome.stop = StopReason::requested;
    bench.exchange.outcome.progress = 0.14;
    SUBCASE("early") { CHECK(bench.run().ending == Ending::stopped_early); }
    SUBCASE("the budget was spent by then") {
        bench.exchange.outcome.progress = 1;
        CHECK(bench.run().ending == Ending::finished);
    }
    SUBCASE("the target was reached") {
        bench.exchange.outcome.stop = StopReason::target_reached;
        CHECK(bench.run().ending == Ending::finished);
    }
    SUBCASE("it was asked itself") {
        bench.interrupts = 1;
        CHECK(bench.run().ending == Ending::interrupted);
    }
    SUBCASE("nobody agreed") {
        bench.exchange.agrees = false;
        CHECK(bench.run().ending == Ending::not_agreed);
    }
}

TEST_CASE("a loss that is not finite ends the run before anything of it is given to the exchange") {
    Bench bench;
    bench.network.bad_round = 3;
    const TrainingOutcome outcome = bench.run();
    CHECK(outcome.ending == Ending::numbers);
    CHECK(outcome.why == "the loss of round 3 is not finite: no more of it was sent");
    CHECK(bench.recorder.rounds.size() == 2);
    CHECK(bench.recorder.losses_not_finite == 1);
    CHECK(bench.exchange.events == "baawrwrebaawrwrebaawrwr");
    CHECK(bench.exchange.farewells == std::vector<Farewell>{{EndCause::numbers, 3, outcome.why}});
    CHECK(outcome.parameters.empty());
}

TEST_CASE("a gradient that the exchange refuses ends the run") {
    Bench bench;
    bench.exchange.refuses = true;
    const TrainingOutcome outcome = bench.run();
    CHECK(outcome.ending == Ending::numbers);
    CHECK(outcome.why == "the gradient is not finite");
    CHECK(bench.exchange.farewells == std::vector<Farewell>{{EndCause::numbers, 1, outcome.why}});
    CHECK(bench.recorder.rounds.empty());
}

TEST_CASE("parameters that are not finite at the end are no model") {
    Bench bench;
    bench.exchange.last_parameter = std::numeric_limits<float>::infinity();
    const TrainingOutcome outcome = bench.run();
    CHECK(outcome.ending == Ending::numbers);
    CHECK(outcome.why == "a parameter is not finite at the end: no model");
    CHECK(outcome.parameters.empty());
}

TEST_CASE("an exchange that cannot go on, and a finish without agreement") {
    Bench failed;
    failed.exchange.fails = true;
    const TrainingOutcome outcome = failed.run();
    CHECK(outcome.ending == Ending::failed);
    CHECK(outcome.why == "too few peers");

    Bench alone;
    alone.exchange.agrees = false;
    CHECK(alone.run().ending == Ending::not_agreed);
}

}  // namespace ako::trainer_test
