// The trainer: the loop that is the same for every mode. begin_round -> next batch -> gradient ->
// end_round -> checkpoint, and in between one slice of the test set where this peer evaluates. What
// peers say to each other, and where the optimizer runs, is the exchange's business; what time it
// is, the observer's; where the run stands, the driver's.
// Compute thread only; everything handed in must outlive it.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/algorithm_settings.h"
#include "ako/exchange.h"
#include "ako/network.h"
#include "src/training/checkpoints.h"
#include "src/training/evaluation.h"
#include "src/training/gradient_noise.h"
#include "src/training/learners.h"
#include "src/training/run_driver.h"

namespace ako {

/// Marks of progress at equal distances, each passed once.
class ProgressMarks {
  public:
    /// A mark every so many epochs of a run of `epochs`; 0: no marks.
    ProgressMarks(double every, double epochs);
    /// Has progress reached the next mark? Then the one after it is next.
    bool pass(double progress);
    /// The same, but only a mark that lies behind `before` counts.
    bool pass_after(double before, double progress);

  private:
    const double distance_;
    double next_;
};

class Trainer {
  public:
    /// `interrupts`: as RunDriver. `checkpoints` may be null only if the settings ask for none.
    /// `learners`: what makes the steps; null: the exchange does, with the gradient of the network
    /// at its replica.
    Trainer(Network& network, BatchSource& batches, TestSet test_set, Exchange& exchange,
            const TrainingSettings& settings, const std::atomic<int>& interrupts,
            TrainingObserver& observer, Checkpoints* checkpoints = nullptr,
            Learners* learners = nullptr);

    /// Trains until the exchange says stop, then finishes with the others. Once.
    TrainingOutcome run();

  private:
    /// One round on a batch of so many samples, or on one for each learner; false: its numbers are
    /// not finite.
    bool train_round(std::size_t samples);
    /// What it teaches, for as long as Exchange asks; `loss` gets the mean over the batch.
    Learned learn(const Batch& batch, float& loss);
    Learned learn_together(const Batch& batch, float& loss);
    /// The next batch of so many. What an earlier process of this peer has trained on is not drawn
    /// again.
    Batch next_batch(std::size_t samples);
    /// Adds what the newest gradients tell of their noise.
    void add_norms();
    /// In a run that was begun earlier the marks up to here were passed. The newest, if that was in
    /// the round before, is evaluated now: an earlier process had no time for it, for a checkpoint
    /// is made at the same marks. Where the verdict may end the run, one is made in any case.
    /// Was there something to evaluate?
    bool go_on();
    /// Keeps all that this peer needs to go on from here, when progress has passed a mark.
    void keep_checkpoint();
    /// `until` is reached, after the newest round.
    bool ends_early(double progress) const;
    /// The same where a start of the run ends before its budget is spent: after its last round,
    /// before what an end brings with it.
    void keep_last_checkpoint();
    /// At the end itself, where no such round was seen, or all have to agree first.
    void keep_checkpoint_at_end();
    void save(Checkpoint& room);
    /// Until nothing is evaluated, by any peer: a verdict may end the run, and an evaluation that
    /// is under way is in no checkpoint. So at each checkpoint the next evaluation begins.
    bool puts_checkpoints_off() const;
    /// Begins an evaluation when progress has passed a mark, goes on with one that is running. At a
    /// mark of checkpoints its parameters are kept as a model. With `evaluate: after` the observer
    /// gets the parameters and that is all.
    void evaluate_slice();
    /// Begins to evaluate the parameters as they are, if this peer evaluates.
    void begin_evaluation(const Standing& standing, bool keep);
    void go_on_evaluating();
    void judged(const Verdict& verdict);
    TrainingOutcome finish();

    // Constant after construction.
    Network& network_;
    BatchSource& batches_;
    Exchange& exchange_;
    const TrainingSettings settings_;
    TrainingObserver& observer_;
    Checkpoints* const checkpoints_;
    Learners* const learners_;

    RunDriver driver_;
    std::vector<float> gradient_;  ///< empty with learners, who have their own
    GradientNoise noise_;
    SlicedEvaluation evaluation_;
    ProgressMarks evaluation_marks_;
    ProgressMarks model_marks_;
    ProgressMarks checkpoint_marks_;
    /// Slices left of the newest evaluation. Every peer counts them, whoever evaluates: where all
    /// wait for each other, they keep checkpoints after the same rounds.
    std::size_t slices_left_ = 0;
    Round last_kept_ = 0;      ///< as it was before the end, where all go on from the same
    bool keeps_ = false;       ///< the parameters of the evaluation that is running
    std::uint64_t drawn_ = 0;  ///< samples, those that were skipped included
};

}  // namespace ako
