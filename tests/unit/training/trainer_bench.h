// A network, data, an exchange and an observer that write down what a trainer asks of them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/training/learners.h"
#include "src/training/trainer.h"

namespace ako::test::trainer {

inline constexpr std::size_t parameters = 6;

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
    void skip(std::uint64_t gradients, std::size_t) override { skipped.push_back(gradients); }
    Evaluation evaluate(const Batch& batch, std::span<const float> values) override {
        evaluated.emplace_back(batch.count, values[0]);
        return {image_loss * static_cast<double>(batch.count), batch.count / 2, batch.count};
    }

    std::vector<std::size_t> batches;
    std::vector<std::uint64_t> skipped;                    ///< gradients
    std::vector<std::pair<std::size_t, float>> evaluated;  ///< samples and the first parameter
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
    std::optional<Next> begin_round(Time) override {
        if (before_round) before_round();
        events += 'b';
        if (fails) return Next::give_up(Ending::failed, "too few peers");
        if (stop != StopReason::none) return Next::finish("asked to");
        if (round_ == rounds_max) return Next::finish("the sample budget is spent");
        Next next = Next::train(64);
        next.restored = std::exchange(restored, nullptr);
        return next;
    }
    std::span<const float> replica() const override { return replica_; }
    bool await(Range, Use use, Time) override {
        if (use == Use::keep)
            ++settled;
        else
            events += use == Use::read ? 'a' : 'w';
        return true;
    }
    void gradient_ready(Range, std::span<const float> gradient) override {
        CHECK(gradient.size() == parameters);
        events += 'r';
    }
    Result<void> end_round(const Learned& learned, const RoundResult& result) override {
        if (const auto* const update = std::get_if<Update>(&learned))
            updates.push_back(update->values[0]);
        else
            CHECK(std::get<Gradient>(learned).values[0] == 1);
        events += 'e';
        if (refuses) return fail(Error::Kind::numbers, "the gradient is not finite");
        samples += result.samples;
        ++round_;
        if (on_round) on_round(round_);
        return {};
    }
    Standing standing() const override {
        const Round all = rounds_of_budget == 0 ? rounds_max : rounds_of_budget;
        return {round_, static_cast<double>(round_) / static_cast<double>(all), evaluator,
                std::nullopt, samples_before == 0 ? 0 : samples_before + samples};
    }
    void copy_parameters(std::span<float> out) override {
        std::fill(out.begin(), out.end(), static_cast<float>(round_));
    }
    void announce(const Verdict& verdict) override {
        verdicts.push_back(verdict);
        announced.emplace_back(round_, verdict.progress);
    }
    std::vector<LinkView> links() const override { return {}; }
    void request_stop(StopReason reason) override { stop = reason; }
    bool save(Checkpoint& out) override {
        out.id.round = round_;
        out.together = together;
        saved.push_back(round_);
        return saves;
    }
    void tell_checkpoints(const CheckpointNews& news) override {
        if (news.kept) told_kept.push_back(*news.kept);
    }
    /// As if it had gone on from a checkpoint.
    void go_on_from(Round round) { round_ = round; }
    bool finish(Time) override {
        events += 'f';
        return true;
    }
    void close(Farewell farewell) override { farewells.push_back(std::move(farewell)); }
    FinishReport report(std::span<float> out) override {
        REQUIRE(!farewells.empty());
        std::fill(out.begin(), out.end(), last_parameter);
        outcome.agreed = agrees;
        outcome.identical = agrees;
        outcome.rounds = round_;
        return outcome;
    }

    Round rounds_max = 4;
    Round rounds_of_budget = 0;  ///< more than it makes; 0: as many
    bool together = false;       ///< its checkpoints are those of all
    bool evaluator = true;
    bool agrees = true;
    float last_parameter = 1000;
    int settled = 0;
    bool fails = false;
    bool refuses = false;
    std::function<void()> before_round;
    std::function<void(Round)> on_round;
    std::string events;
    std::vector<float> updates;  ///< first elements
    std::shared_ptr<const Checkpoint> restored;
    std::vector<Farewell> farewells;
    std::size_t samples = 0;
    std::uint64_t samples_before = 0;  ///< that another process trained on; 0: it does not say
    std::vector<Verdict> verdicts;
    std::vector<std::pair<Round, double>> announced;  ///< after which round, and of which progress
    StopReason stop = StopReason::none;
    bool saves = true;
    std::vector<Round> saved;
    std::vector<std::vector<CheckpointId>> told_kept;
    FinishReport outcome;  ///< without what is known at the end

  private:
    Round round_ = 0;
    std::vector<float> replica_ = std::vector<float>(parameters);
};

class Recorder final : public TrainingObserver {
  public:
    void reached(RoundMoment moment) override { moments.push_back(moment); }
    void round_done(const RoundReport& report) override { rounds.push_back(report); }
    void loss_not_finite() override { ++losses_not_finite; }
    void milestone_passed(const Milestone& milestone) override {
        milestones.emplace_back(milestone.round, milestone.parameters[0]);
        CHECK(milestone.parameters.size() == parameters);
    }
    void evaluation_done(const Verdict& verdict) override { verdicts.push_back(verdict); }
    void stopping(const std::string& why) override { stopped = why; }
    void finished(const FinishReport&) override { ++finishes; }

    int losses_not_finite = 0;
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
    std::size_t test_samples = 1000;
    std::vector<std::pair<float, double>> kept;  ///< first parameter and progress of models
    std::vector<Round> written;                  ///< checkpoints
    std::vector<std::size_t> learners_written;   ///< of each: 1 if it holds learners

    Learners* learners = nullptr;

    TrainingOutcome run() {
        const TestSet test_set{test_samples, [](std::size_t, std::size_t count) {
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
                learners_written.push_back(it.numbers.count("learners"));
                return std::vector{it.id};
            });
        // A slow disk would leave some out.
        exchange.before_round = [&] { checkpoints.flush(); };
        return Trainer(network, batches, test_set, exchange, settings, interrupts, recorder,
                       &checkpoints, learners)
            .run();
    }
};

}  // namespace ako::test::trainer
