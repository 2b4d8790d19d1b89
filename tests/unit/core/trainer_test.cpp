// The trainer's loop, with a network, data and an exchange that write down what is asked of them.
#include "src/training/trainer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace ako;

namespace {

constexpr std::size_t parameters = 6;

/// Loss 1, a gradient of ones, finished in two parts, last first; "correct" follows a parameter.
class FakeNetwork final : public Network {
  public:
    std::size_t parameter_count() const override { return parameters; }
    const std::vector<Tensor>& tensors() const override { return tensors_; }
    void initialize(std::uint64_t, std::span<float>) const override {}
    float gradient(const Batch& batch, std::span<const float> values, std::span<float> gradient,
                   const AwaitRange& await, const RangeReady& ready) override {
        CHECK(values.size() == parameters);
        batches.push_back(batch.count);
        await({0, 4});
        await({4, 2});
        std::fill(gradient.begin(), gradient.end(), 1.0F);
        ready({4, 2});
        ready({0, 4});
        return batches.size() == bad_round ? std::numeric_limits<float>::quiet_NaN() : 1.0F;
    }
    Evaluation evaluate(const Batch& batch, std::span<const float> values) override {
        evaluated.emplace_back(batch.count, values[0]);
        return {image_loss * static_cast<double>(batch.count), batch.count / 2, batch.count};
    }

    std::vector<std::size_t> batches;
    std::vector<std::pair<std::size_t, float>> evaluated;  ///< images and the first parameter
    std::size_t bad_round = 0;
    double image_loss = 2;

  private:
    std::vector<Tensor> tensors_;
};

class FakeBatches final : public BatchSource {
  public:
    Batch next(std::size_t count) override { return {{}, {}, count}; }
    void skip(std::uint64_t samples) override { skipped.push_back(samples); }

    std::vector<std::uint64_t> skipped;
};

/// Stops after `rounds_max` rounds or when asked to; every copied parameter is the round.
class FakeExchange final : public Exchange {
  public:
    Next begin_round() override {
        if (before_round) before_round();
        events += 'b';
        if (fails) return Next::give_up(Ending::failed, "too few peers");
        if (stop != StopReason::none) return Next::finish("asked to");
        if (round_ == rounds_max) return Next::finish("the sample budget is spent");
        return {};
    }
    std::span<const float> replica() const override { return replica_; }
    void await(Range) override { events += 'a'; }
    void gradient_ready(Range, std::span<const float> gradient) override {
        CHECK(gradient.size() == parameters);
        events += 'r';
    }
    Result<void> end_round(const Learned& learned, const RoundResult& result) override {
        CHECK(std::get<Gradient>(learned).values[0] == 1);
        events += 'e';
        if (refuses) return fail(Error::Kind::numbers, "the gradient is not finite");
        samples += result.samples;
        ++round_;
        if (on_round) on_round(round_);
        return {};
    }
    Standing standing() const override {
        return {round_, static_cast<double>(round_) / static_cast<double>(rounds_max), evaluator,
                std::nullopt, samples_before == 0 ? 0 : samples_before + samples};
    }
    void copy_parameters(std::span<float> out) override {
        std::fill(out.begin(), out.end(), static_cast<float>(round_));
    }
    void announce(const Verdict& verdict) override { verdicts.push_back(verdict); }
    std::vector<LinkView> links() const override { return {}; }
    void request_stop(StopReason reason) override { stop = reason; }
    bool save(Checkpoint& out) override {
        out.id.round = round_;
        saved.push_back(round_);
        return saves;
    }
    void tell_kept(const std::vector<CheckpointId>& kept) override { told_kept.push_back(kept); }
    /// As if it had gone on from a checkpoint.
    void go_on_from(Round round) { round_ = round; }
    FinishReport finish(std::span<float> out) override {
        events += 'f';
        std::fill(out.begin(), out.end(), last_parameter);
        report.agreed = agrees;
        report.identical = agrees;
        report.rounds = round_;
        return report;
    }

    Round rounds_max = 4;
    bool evaluator = true;
    bool agrees = true;
    float last_parameter = 1000;
    bool fails = false;
    bool refuses = false;
    std::function<void()> before_round;
    std::function<void(Round)> on_round;
    std::string events;
    std::size_t samples = 0;
    std::uint64_t samples_before = 0;  ///< that another process trained on; 0: it does not say
    std::vector<Verdict> verdicts;
    StopReason stop = StopReason::none;
    bool saves = true;
    std::vector<Round> saved;
    std::vector<std::vector<CheckpointId>> told_kept;
    FinishReport report;  ///< without what is known at the end

  private:
    Round round_ = 0;
    std::vector<float> replica_ = std::vector<float>(parameters);
};

class Recorder final : public TrainingObserver {
  public:
    void reached(RoundMoment moment) override { moments.push_back(moment); }
    void round_done(const RoundReport& report) override { rounds.push_back(report); }
    void milestone_passed(const Milestone& milestone) override {
        milestones.emplace_back(milestone.round, milestone.parameters[0]);
        CHECK(milestone.parameters.size() == parameters);
    }
    void evaluation_done(const Verdict& verdict) override { verdicts.push_back(verdict); }
    void stopping(const std::string& why) override { stopped = why; }
    void finished(const FinishReport&) override { ++finishes; }

    std::vector<RoundMoment> moments;
    std::vector<RoundReport> rounds;
    std::vector<std::pair<Round, float>> milestones;  ///< and their first parameters
    std::vector<Verdict> verdicts;
    std::string stopped;
    int finishes = 0;
};

struct Bench {
    FakeNetwork network;
    FakeBatches batches;
    FakeExchange exchange;
    Recorder recorder;
    TrainingSettings settings;
    std::atomic<int> interrupts = 0;
    std::size_t test_images = 1000;
    std::vector<std::pair<float, double>> kept;  ///< first parameter and progress of models
    std::vector<Round> written;                  ///< checkpoints

    TrainingOutcome run() {
        const TestSet test_set{test_images, [](std::size_t, std::size_t count) {
                                   return Batch{{}, {}, count};
                               }};
        Checkpoints checkpoints(
            parameters,
            [this](std::span<const float> values, const Verdict& verdict) -> Result<void> {
                kept.emplace_back(values[0], verdict.progress);
                return {};
            },
            [](const std::string& line) { FAIL_CHECK(line); }, [](const std::string&) {},
            [this](const Checkpoint& it) -> Result<std::vector<CheckpointId>> {
                written.push_back(it.id.round);
                return std::vector{it.id};
            });
        // A slow disk would leave some out.
        exchange.before_round = [&] { checkpoints.flush(); };
        return Trainer(network, batches, test_set, exchange, settings, interrupts, recorder,
                       &checkpoints)
            .run();
    }
};

}  // namespace

TEST_CASE("a run: every round in order, then the final exchange and the whole test set") {
    Bench bench;
    bench.settings.evaluate_every = 0;
    const TrainingOutcome outcome = bench.run();
    CHECK(outcome.ending == Ending::finished);
    CHECK(outcome.why == "the sample budget is spent");
    CHECK(bench.exchange.events == "baarrebaarrebaarrebaarrebf");
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
        if (round == 3) restarted.exchange.samples_before += 1000;
    };
    restarted.run();
    CHECK(restarted.batches.skipped == std::vector<std::uint64_t>{640, 1000});
}

TEST_CASE("an evaluation is of frozen parameters, one slice per round") {
    Bench bench;
    bench.exchange.rounds_max = 10;
    bench.settings.epochs = 1;
    bench.settings.evaluate_every = 0.4;
    bench.test_images = 600;
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
                                   await_begun, await_ended, gradient_ended, ended, begun});
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
    bench.test_images = 600;
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

TEST_CASE("a run that goes on does so where its data were, and passes no mark again") {
    Bench bench;
    bench.exchange.rounds_max = 20;
    bench.exchange.go_on_from(11);
    bench.exchange.samples_before = 11 * 64;
    bench.settings.epochs = 2;
    bench.settings.evaluate_every = 0.5;
    bench.settings.checkpoint_every = 1;
    bench.test_images = 100;
    bench.run();
    CHECK(bench.batches.skipped == std::vector<std::uint64_t>{11 * 64});
    CHECK(bench.recorder.rounds.front().round == 12);
    CHECK(bench.recorder.milestones == std::vector<std::pair<Round, float>>{{15, 15.0F}});
    CHECK(bench.written.empty());
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
    diverged.test_images = 100;
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
    bench.test_images = 100;
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
        bench.exchange.report.left = true;
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
    bench.exchange.report.stop = StopReason::requested;
    bench.exchange.report.progress = 0.14;
    SUBCASE("early") { CHECK(bench.run().ending == Ending::stopped_early); }
    SUBCASE("the budget was spent by then") {
        bench.exchange.report.progress = 1;
        CHECK(bench.run().ending == Ending::finished);
    }
    SUBCASE("the target was reached") {
        bench.exchange.report.stop = StopReason::target_reached;
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
    CHECK(outcome.why == "the loss of round 3 is not finite: nothing of it was sent");
    CHECK(bench.recorder.rounds.size() == 2);
    CHECK(bench.exchange.events == "baarrebaarrebaarr");
    CHECK(outcome.parameters.empty());
}

TEST_CASE("a gradient that the exchange refuses ends the run") {
    Bench bench;
    bench.exchange.refuses = true;
    const TrainingOutcome outcome = bench.run();
    CHECK(outcome.ending == Ending::numbers);
    CHECK(outcome.why == "the gradient is not finite");
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
