#include "src/training/trainer.h"

#include <cmath>
#include <limits>
#include <utility>

#include "ako/assert.h"
#include "src/training/checkpoint_pace.h"

namespace ako {

namespace {

bool verdict_may_end(const TrainingSettings& settings) {
    return settings.target_accuracy && settings.evaluate == EvaluateWhen::during;
}

/// Epochs between marks of checkpoints. Where a verdict may end the run, each has an evaluation.
double checkpoints_every(const TrainingSettings& settings) {
    if (!settings.paces_checkpoints()) return settings.checkpoint_every;
    const bool with_evaluations = verdict_may_end(settings) && settings.evaluate_every > 0;
    return with_evaluations ? settings.evaluate_every : auto_mark_epochs;
}

/// Epochs between models that are kept.
double models_every(const TrainingSettings& settings) {
    if (settings.evaluate != EvaluateWhen::during) return 0;
    return settings.paces_checkpoints() ? settings.evaluate_every : settings.checkpoint_every;
}

}  // namespace

ProgressMarks::ProgressMarks(double every, double epochs)
    : distance_(every > 0 ? every / epochs : std::numeric_limits<double>::infinity()),
      next_(distance_) {}

bool ProgressMarks::pass(double progress) {
    if (progress < next_) return false;
    next_ = (std::floor(progress / distance_) + 1) * distance_;
    return true;
}

bool ProgressMarks::pass_after(double before, double progress) {
    return pass(progress) && next_ - distance_ > before;
}

Trainer::Trainer(Network& network, BatchSource& batches, TestSet test_set, Exchange& exchange,
                 const TrainingSettings& settings, const std::atomic<int>& interrupts,
                 TrainingObserver& observer, Checkpoints* checkpoints, Learners* learners)
    : network_(network),
      batches_(batches),
      exchange_(exchange),
      settings_(settings),
      observer_(observer),
      checkpoints_(checkpoints),
      learners_(learners),
      driver_(settings, interrupts),
      gradient_(learners == nullptr ? network.parameter_count() : 0),
      evaluation_(network, std::move(test_set), network.parameter_count()),
      evaluation_marks_(settings.evaluate_every, settings.epochs),
      model_marks_(models_every(settings), settings.epochs),
      checkpoint_marks_(checkpoints_every(settings), settings.epochs) {
    AKO_ASSERT(checkpoints_ != nullptr || !settings.keeps_checkpoints(), "nobody to keep them");
    driver_.start(exchange, observer);
}

TrainingOutcome Trainer::run() {
    for (;;) {
        std::optional<Next> next = driver_.begin_round({}, forever);
        // What an evaluation says after a round counts before the next begins.
        if (next->kind == Next::Kind::train && drawn_ == 0) {
            if (learners_ != nullptr && next->restored != nullptr) {
                const Result<void> restored = learners_->restore(*next->restored);
                if (!restored)
                    return {Ending::failed, next->restored->path + ": " + restored.error().what};
            }
            if (go_on()) next = driver_.begin_round({}, forever);
        }
        if (next->kind == Next::Kind::finish) return finish();
        if (next->kind == Next::Kind::give_up || !train_round(next->samples))
            return std::move(driver_.outcome());
        keep_checkpoint();
        evaluate_slice();
    }
}

bool Trainer::go_on() {
    const Standing standing = exchange_.standing();
    if (standing.round == 0) {
        for (ProgressMarks* const marks : {&evaluation_marks_, &model_marks_, &checkpoint_marks_})
            marks->pass(standing.progress);
        return false;
    }
    // A mark at the very end of the round before lies not behind it: more than a rounding error.
    constexpr double most_of_a_round = 1 - 1e-6;
    const double a_round = standing.progress / static_cast<double>(standing.round);
    const double before = standing.progress - most_of_a_round * a_round;
    checkpoint_marks_.pass(standing.progress);
    const bool evaluate = evaluation_marks_.pass_after(before, standing.progress);
    bool keep = model_marks_.pass_after(before, standing.progress);
    keep = keep || (puts_checkpoints_off() && models_every(settings_) > 0);
    if (!evaluate && !keep) return false;
    begin_evaluation(standing, keep);
    go_on_evaluating();
    return true;
}

bool Trainer::puts_checkpoints_off() const { return verdict_may_end(settings_); }

Batch Trainer::next_batch(std::size_t samples) {
    const std::uint64_t trained = exchange_.standing().samples;
    if (trained > drawn_) {
        batches_.skip(trained - drawn_);
        // Rounds were as this one. Where the batch has grown meanwhile, dropout is drawn otherwise.
        const std::uint64_t rounds = (trained - drawn_) / samples;
        if (learners_ != nullptr)
            learners_->skip(rounds);
        else
            network_.skip(rounds, samples);
        drawn_ = trained;
    }
    const Batch batch = batches_.next(samples);
    drawn_ += batch.count;
    return batch;
}

Learned Trainer::learn(const Batch& batch, float& loss) {
    const auto await = [this](Range range) { driver_.await(range, Use::read); };
    const auto ready = [this](Range range) {
        driver_.await(range, Use::give);
        exchange_.gradient_ready(range, gradient_);
    };
    loss = network_.gradient(batch, exchange_.replica(), gradient_, await, ready);
    return Gradient{gradient_};
}

Learned Trainer::learn_together(const Batch& batch, float& loss) {
    const Range all{0, network_.parameter_count()};
    const double progress = exchange_.standing().progress;
    if (learners_->begins_anew(progress)) driver_.await(all, Use::read);
    loss = learners_->learn(batch, exchange_.replica(), progress);
    driver_.await(all, Use::read);
    const std::size_t together = exchange_.standing().learners_together;
    return Update{learners_->correct(exchange_.replica(), together)};
}

void Trainer::add_norms() {
    if (learners_ != nullptr)
        learners_->visit_norms([this](const GradientNorms& norms) { noise_.add(norms); });
    else if (const auto norms = network_.norms())
        noise_.add(*norms);
}

bool Trainer::train_round(std::size_t samples) {
    const Batch batch = next_batch(learners_ != nullptr ? learners_->samples_per_round() : samples);
    const std::size_t learners = learners_ != nullptr ? learners_->count() : 1;
    observer_.reached(RoundMoment::gradient_begun);
    float loss = 0;
    const Learned learned = learners_ != nullptr ? learn_together(batch, loss) : learn(batch, loss);
    observer_.reached(RoundMoment::gradient_ended);
    if (!std::isfinite(loss)) {  // asked before the rest of the round is sent
        const Round round = exchange_.standing().round + 1;
        const std::string why =
            "the loss of round " + std::to_string(round) + " is not finite: no more of it was sent";
        observer_.loss_not_finite();
        driver_.give_up({EndCause::numbers, round, why}, why);
        return false;
    }
    add_norms();
    return driver_.end_round(learned, {batch.count, loss, noise_.scale(), learners}).has_value();
}

void Trainer::keep_checkpoint() {
    if (checkpoints_ == nullptr) return;
    exchange_.tell_checkpoints(checkpoints_->take_news());
    const Standing standing = exchange_.standing();
    const double progress = standing.progress;
    if (ends_early(progress)) return keep_last_checkpoint();
    if (puts_checkpoints_off() && slices_left_ > 0) return;
    // At the end of the budget there is the model.
    if (!checkpoint_marks_.pass(progress) || progress >= 1) return;
    const bool due = checkpoints_->is_due(standing.marks_apart);
    if (const auto interval = checkpoints_->interval()) observer_.checkpoints_paced(*interval);
    if (!due) return;
    exchange_.await({}, Use::keep,
                    forever);  // also where there is no room: nothing is to depend on a disk
    if (Checkpoint* const room = checkpoints_->room(progress)) save(*room);
}

bool Trainer::ends_early(double progress) const {
    if (!settings_.until || progress >= 1) return false;
    // Where it ends is a whole number of samples, up to half a one earlier.
    constexpr double rounding = 0.02;  // of a round
    const double a_round = progress / static_cast<double>(exchange_.standing().round);
    return progress + rounding * a_round >= *settings_.until / settings_.epochs;
}

void Trainer::keep_last_checkpoint() {
    exchange_.await({}, Use::keep, forever);
    Checkpoint* const room = checkpoints_->last_room();
    if (room == nullptr) return;
    save(*room);
    if (room->together) last_kept_ = exchange_.standing().round;
}

void Trainer::keep_checkpoint_at_end() {
    const Round round = exchange_.standing().round;
    if (!settings_.until || round == 0 || round == last_kept_) return;
    if (Checkpoint* const room = checkpoints_->last_room()) save(*room);
}

void Trainer::save(Checkpoint& room) {
    if (!exchange_.save(room)) return;
    if (learners_ != nullptr) learners_->save(room);
    checkpoints_->filled();
}

void Trainer::evaluate_slice() {
    if (slices_left_ == 0) {
        const Standing standing = exchange_.standing();
        const bool evaluate = evaluation_marks_.pass(standing.progress);
        const bool keep = model_marks_.pass(standing.progress);
        if (evaluate || keep) begin_evaluation(standing, keep);
    }
    go_on_evaluating();
}

void Trainer::begin_evaluation(const Standing& standing, bool keep) {
    // The end of the budget is evaluated by finish(), on the parameters that all agree on.
    if (standing.progress >= 1) return;
    const bool during = settings_.evaluate == EvaluateWhen::during;
    if (during) slices_left_ = evaluation_.slices();
    if (!standing.evaluates) return;
    exchange_.copy_parameters(evaluation_.parameters());
    observer_.milestone_passed({standing.round, standing.progress, evaluation_.parameters()});
    if (!during) return;
    evaluation_.begin(standing.progress);
    keeps_ = keep;
}

void Trainer::go_on_evaluating() {
    if (slices_left_ == 0) return;
    --slices_left_;
    if (!evaluation_.running()) return;  // another peer does
    if (const auto verdict = evaluation_.step()) judged(*verdict);
}

void Trainer::judged(const Verdict& verdict) {
    driver_.announce(verdict);
    // What has diverged must not take the place of what has not.
    if (keeps_ && std::isfinite(verdict.loss.value_or(0)))
        checkpoints_->take(evaluation_.parameters(), verdict);
}

TrainingOutcome Trainer::finish() {
    keep_checkpoint_at_end();
    driver_.finish(evaluation_.parameters(), forever);
    TrainingOutcome& outcome = driver_.outcome();
    if (!driver_.has_model()) return std::move(outcome);
    evaluation_.begin(exchange_.standing().progress);
    outcome.verdict = evaluation_.complete();
    outcome.parameters = evaluation_.release();
    driver_.judge();
    return std::move(outcome);
}

}  // namespace ako
