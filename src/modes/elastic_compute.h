// The compute half of an elastic ring: rounds, and the steps with the mean gradient of whoever gave
// to a sync; what all modes in lockstep share is LockstepCompute's, what is counted
// ElasticBudget's. Whether this process is in, the other half says (EpochBoard); one that is not
// waits until it is, and takes over what the members hold. Never waits itself. Compute thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/threads.h"
#include "src/buckets/elastic_ring.h"
#include "src/buckets/epoch_board.h"
#include "src/exchange/start_wait.h"
#include "src/modes/elastic_budget.h"
#include "src/modes/lockstep_compute.h"
#include "src/numbers/optimizer.h"

namespace ako {

/// What every member holds alike: parameters, and what the optimizer remembers. See EpochBoard for
/// whose it is when.
struct ElasticState {
    ElasticState(const TrainingSettings& training, std::span<const float> initial)
        : parameters(initial.begin(), initial.end()), optimizer(initial.size(), training, {}) {
        // Without momentum nothing of it is used again.
        if (training.momentum > 0) velocity = optimizer.velocity();
    }
    StateHandover::Memory memory() { return {parameters, velocity}; }

    std::vector<float> parameters;
    Sgd optimizer;
    std::span<float> velocity;
};

class ElasticCompute final : public LockstepCompute {
  public:
    /// All references outlive this. `ring` is asked for the memory of its sums alone.
    ElasticCompute(const ModeSettings& settings, const Buckets& buckets, Mailbox& mailbox,
                   BucketBoard& board, EpochBoard& epochs, const ElasticRing& ring,
                   ElasticState& state);

    std::optional<Next> begin_round(Time now) override AKO_COMPUTE_THREAD;
    std::vector<PeerIndex> missing() const override AKO_COMPUTE_THREAD;

    std::span<const float> replica() const override AKO_COMPUTE_THREAD { return state_.parameters; }
    bool step_await(Range range) override AKO_COMPUTE_THREAD;
    bool step_settle() override AKO_COMPUTE_THREAD {
        return step_await({0, buckets_.parameter_count()});
    }
    bool gradient_ready(Range range, std::span<const float> gradient,
                        Time now) override AKO_COMPUTE_THREAD;
    /// Numbers that are not finite break the exchange off.
    Result<void> end_round(const Learned& learned, const RoundResult& result,
                           Time now) override AKO_COMPUTE_THREAD;

    void request_leave() override AKO_COMPUTE_THREAD { asked_to_leave_ = true; }
    Standing standing() const override AKO_COMPUTE_THREAD;
    LinkView link(PeerIndex peer, Time now) const override AKO_COMPUTE_THREAD;

    bool step_finish(Time now, bool hurried) override AKO_COMPUTE_THREAD;

    /// After the newest sync whose sums are all used here. For tests.
    const Tally& tally() const AKO_COMPUTE_THREAD { return budget_.tally(); }
    /// As the other half has it now. For tests.
    EpochPlace place() const AKO_COMPUTE_THREAD { return epochs_.place(); }

  private:
    bool is_in() const override AKO_COMPUTE_THREAD { return in_; }
    /// Also where this process was put out meanwhile.
    bool is_void() const override AKO_COMPUTE_THREAD { return !in_ || LockstepCompute::is_void(); }
    std::span<const float> parameters() const override AKO_COMPUTE_THREAD {
        return state_.parameters;
    }
    double progress() const override AKO_COMPUTE_THREAD { return budget_.progress(round_); }
    std::uint64_t own_samples() const override AKO_COMPUTE_THREAD {
        return budget_.own_samples(round_);
    }
    std::vector<std::uint64_t> samples_of_all() const override AKO_COMPUTE_THREAD;
    PeerSet heirs() const override AKO_COMPUTE_THREAD;

    /// Takes in what others say, and what the other half says of who is in.
    void look_round() AKO_COMPUTE_THREAD;
    void look_at_place() AKO_COMPUTE_THREAD;
    /// What begin_round says if it goes no further; nothing: it goes on.
    using Answer = std::optional<std::optional<Next>>;
    /// It is not in: waits, or begins, or takes over what the members hold.
    Answer come_in(Time now) AKO_COMPUTE_THREAD;
    std::optional<Next> wait_for_entry(Time now) AKO_COMPUTE_THREAD;
    /// What is wrong with what the members say, if anything.
    std::string take(const Entry& entry) AKO_COMPUTE_THREAD;
    void tell_state() AKO_COMPUTE_THREAD;
    Digest digest_of_state() const AKO_COMPUTE_THREAD;
    void settled(std::size_t bucket, const SyncSummary& summary) AKO_COMPUTE_THREAD;
    /// Fewer are in than are to train; they wait until more are.
    bool too_few() const AKO_COMPUTE_THREAD;
    std::optional<Next> wait_for_more(Time now) AKO_COMPUTE_THREAD;
    Answer finish_or_leave() AKO_COMPUTE_THREAD;
    void contribute(std::size_t bucket) AKO_COMPUTE_THREAD;
    bool one_has_ended() const AKO_COMPUTE_THREAD;

    EpochBoard& epochs_;
    const ElasticRing& ring_;
    ElasticState& state_;
    const std::size_t members_min_;  ///< that train
    ElasticBudget budget_;

    StartWait start_wait_;
    EpochPlace place_;
    bool in_ = false;
    bool asked_ = false;               ///< to be taken in
    std::optional<Time> waits_since_;  ///< to be in, or for more members
    std::uint32_t told_in_ = 0;        ///< the epoch that a newcomer was told the state in

    std::span<const float> gradient_;              ///< that is under way
    double rate_ = 0;                              ///< of its round
    StopReason wish_of_round_ = StopReason::none;  ///< fixed for one sync
};

}  // namespace ako
