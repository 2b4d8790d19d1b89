// How often checkpoints pay (`training.checkpoint_every: auto`): as the work that a fault destroys,
// half of what lies between two, together with what they take themselves is least. J. W. Young, "A
// first order approximation to the optimum checkpoint interval", CACM 1974; J. T. Daly, "A higher
// order estimate of the optimum checkpoint interval for restart dumps", FGCS 2006. Never so often
// that they take more than 3.5 % of the pace, the bound of CheckFreq (Mohan et al., FAST 2021).
// Pure functions and a value; one thread.
#pragma once

#include <cstdint>

namespace ako {

/// Between two marks at which a checkpoint may be made, where no key says how many epochs: hardly
/// more than a round.
inline constexpr double auto_mark_epochs = 1.0 / 4096;
/// Of the time of training, at most.
inline constexpr double checkpoint_share_max = 0.035;

/// What one checkpoint takes, seconds.
struct CheckpointCost {
    double still = 0;       ///< that training stands still, until its copy is made
    double processor = 0;   ///< of the thread that writes it, which training does not have
    double until_safe = 0;  ///< from its mark until it is on the disk

    double of_training() const { return still + processor; }
};

/// How often checkpoints are made.
struct CheckpointInterval {
    double seconds = 0;
    double share = 0;  ///< of the time of training that they take, 0 .. 1

    bool operator==(const CheckpointInterval&) const = default;
};

/// Seconds of training between two checkpoints, that least is lost; `mtbf`: between two faults.
double best_interval(const CheckpointCost& cost, double mtbf);
/// They may not lie closer: for their share of the time, and for the disk, which is to be free
/// again for as long as it was busy.
double least_interval(const CheckpointCost& cost);

/// So many marks of `mark_s` apart come nearest to `interval` seconds, and not below `least`: 1, 2,
/// 3, 4, 6, 8, 12, .., so that it seldom changes. At most 2 % more is lost than by the best.
std::uint64_t best_marks_apart(double interval, double least, double mark_s);

/// What one of so many bytes takes at most, before any was made: 0.7 to 4.5 ns of training a byte
/// were measured, and 6 of a first one, whose copy takes new memory (experiments/checkpoint-study).
CheckpointCost expected_cost(std::uint64_t bytes);

/// Of one peer: what its checkpoints took so far, and what follows from it.
class CheckpointPace {
  public:
    /// `mtbf`: seconds, as far as anybody knows before the run. `bytes`: of one, about.
    CheckpointPace(double mtbf, std::uint64_t bytes) : mtbf_(mtbf), cost_(expected_cost(bytes)) {}

    /// An earlier start of the run has trained for so long and was ended by so many faults.
    void knows(double seconds, std::uint64_t faults);
    /// Since this start began to train.
    void has_trained(double seconds) { seconds_ = seconds; }
    void took(const CheckpointCost& cost);

    /// With what was seen: the run counts like what was known before, of one fault.
    double mtbf() const;
    const CheckpointCost& cost() const { return cost_; }
    /// Was one made, so that it is known what they take?
    bool is_known() const { return checkpoints_ > 0; }
    /// The first comes as soon as it is no more than its share of the training so far: to know what
    /// they take.
    bool first_is_due() const { return seconds_ >= least_interval(cost_); }
    std::uint64_t marks_apart(double mark_s) const {
        return best_marks_apart(best_interval(cost_, mtbf()), least_interval(cost_), mark_s);
    }

  private:
    double mtbf_;
    double seconds_before_ = 0, seconds_ = 0;
    std::uint64_t faults_ = 0;
    std::uint64_t checkpoints_ = 0;
    CheckpointCost cost_;  ///< expected, then measured, where the newest counts most
};

}  // namespace ako
