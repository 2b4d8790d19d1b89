// The learners of one peer: k replicas of the model, each with its own optimizer and its own
// scratch memory of the layers, on a thread of its own, which share data and code. Every round each
// makes a step with a small batch of its own at its own parameters w_j; then each is corrected
// towards the average z, which is the exchange's replica, and z moves towards them:
//
//     d_j     = w_j - z
//     w_j    += momentum * change - d_j / K               K learners share z
//     change  = momentum * change + mean of d_j           and z += change, by the exchange
//
// Synchronous model averaging (A. Koliousis et al., "Crossbow: Scaling Deep Learning with Small
// Batch Sizes on Multi-GPU Servers", VLDB 2019, algorithm 1), whose momentum here moves the
// learners along with z, as block-wise model updates do (K. Chen, Q. Huo, "Scalable Training of
// Deep Learning Machines by Incremental Block Training with Intra-block Parallel Optimization and
// Blockwise Model-Update Filtering", ICASSP 2016). Without that they hold z back, which then moves
// as far as one learner does, whatever the momentum: in an epoch, 1 / K of what one makes alone.
// With equal steps s of all, d_j comes to s K / (K + 1); so with the momentum K / (K + 1) z moves
// by K s in a round, which takes K batches. z is what is evaluated and saved.
// When the learning rate falls in steps, the averaging begins anew: all learners go on from z, and
// its momentum is 0. Dropout is drawn anew by each learner; so is what augmentation makes of an
// image.
//
// In the mode sma all learners of all peers share one z, and z is not read before the correction:
// what moves it travels while the next gradients are computed. Else the learners of one peer share
// theirs, and *follow* it: where others move z (the rows of mode ako), the learners are moved
// along, so that an update holds what they learned themselves and nothing that came from others.
// One learner that shares z with none is z: plain SGD.
//
// The sums are made in the order of the learners, whatever their threads do, so that a run can be
// repeated bit for bit. Compute thread only; between two calls no other thread runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/algorithm_settings.h"
#include "ako/checkpoint.h"
#include "ako/clock.h"
#include "ako/network.h"
#include "src/numbers/optimizer.h"
#include "src/training/learner_count.h"
#include "src/training/learner_threads.h"

namespace ako {

struct LearnerOptions {
    /// Peers whose learners share one average: all in the mode sma, else 1.
    std::size_t peers_together = 1;
    /// The learners are moved along where others move the average; costs a vector.
    bool follows = false;
    /// With `auto`, for which memory and cores there are.
    unsigned count_max = 1;
    /// Told of changes in their number, in a line for people: of those that stay, and of all
    /// others.
    std::function<void(const std::string&)> notice, detail;
};

class Learners {
  public:
    /// The network of the learner of this number, 1 or more.
    using MakeNetwork = std::function<std::unique_ptr<Network>(std::size_t number)>;

    /// `first` is the network of learner 0, which computes on the caller's thread; that and `clock`
    /// outlive this.
    Learners(Network& first, MakeNetwork make_network, const TrainingSettings& training,
             LearnerOptions options, const Clock& clock);

    std::size_t count() const { return learners_.size(); }
    /// What `learn` takes next.
    std::size_t samples_per_round() const { return count() * training_.batch.local; }

    /// Before `learn`, with the progress at which the round begins: does the averaging begin anew?
    /// Then the average has to be awaited before that.
    bool begins_anew(double progress) const;
    /// Every learner computes the gradient of its part of the batch. `average` is z,
    /// [parameter_count], valid during the call; it is read where learners follow it, in the first
    /// round, and where the averaging begins anew. Returns the mean loss.
    float learn(const Batch& batch, std::span<const float> average, double progress);
    /// Every learner makes its step and is corrected, once the average has been awaited. So many
    /// learners shared that `together` in the round before, these among them; 0: all peers have as
    /// many. Returns the update of the round, [parameter_count], valid until the next call. With
    /// `auto` there may be more learners from then on, or fewer.
    std::span<const float> correct(std::span<const float> average, std::size_t together = 0);

    /// Goes on as if so many rounds had been made.
    void skip(std::uint64_t rounds);
    /// Calls it with what each learner's newest gradient tells of its noise.
    void visit_norms(const std::function<void(const GradientNorms&)>& visit) const;

    /// Between two rounds: adds to what the mode has put in.
    void save(Checkpoint& out) const;
    /// Before the first round. Error::Kind::io if it is of another number of learners, which only
    /// `auto` takes. After an error nothing that they hold means anything.
    Result<void> restore(const Checkpoint& from);

    /// Memory of one learner, but for its layers: its replica, velocity and gradient.
    static constexpr std::size_t vectors_each = 3;
    /// What all share: the update, and what the average was where others move it as well.
    static constexpr std::size_t vectors_shared(bool alone) { return alone ? 1 : 2; }

  private:
    struct Learner {
        Network* network = nullptr;
        std::unique_ptr<Network> own;  ///< the same; null of learner 0
        std::vector<float> parameters;
        std::vector<float> gradient;
        Sgd optimizer;
        float loss = 0;
    };

    Learner make_learner(std::size_t number);
    /// All go on from these parameters.
    void begin_at(std::span<const float> parameters);
    void set_count(std::size_t count);
    /// It is as it would be with one learner: nothing to correct.
    bool alone() const { return count() == 1 && options_.peers_together == 1; }
    /// The optimizers' steps, and the correction after them.
    void correct_range(Range range, std::span<const float> average, std::size_t together);
    /// The part of its last change that the average makes again.
    float momentum() const;
    /// Asks whether there should be more or fewer. So many learners of other peers wait for these.
    void adapt(std::span<const float> average, std::size_t others);
    /// What the newest round brought, for that; see adapt.
    std::optional<LearnerCount::Change> judge(std::size_t others);

    // Constant after construction.
    Network& first_;
    const MakeNetwork make_network_;
    const TrainingSettings training_;
    const LearnerOptions options_;
    const Clock& clock_;

    std::vector<Learner> learners_;
    std::unique_ptr<LearnerThreads> threads_;
    std::vector<float> update_;          ///< the newest, [parameter_count]
    std::vector<float> followed_;        ///< what the average was left at; empty: nobody follows it
    std::vector<float> average_before_;  ///< empty: no other peer's learners share it
    bool begun_ = false;                 ///< the learners have parameters
    std::size_t steps_passed_ = 0;       ///< of the learning rate
    double rate_ = 0;                    ///< of this round
    std::uint64_t skipped_ = 0;          ///< rounds, for learners that come later
    std::optional<LearnerCount> adapts_;
    std::size_t samples_ = 0;       ///< of this round
    Time took_{};                   ///< this round so far, without what is waited for
    std::size_t count_before_ = 0;  ///< of the round before; 0 = there was none
    // Where others wait for these.
    std::optional<Time> corrected_at_;  ///< in the round before
    double usual_s_ = 0;                ///< a whole round, while nothing is tried; 0 = not known
};

}  // namespace ako
