// The compute half of an elastic ring: rounds, the steps with the mean gradient of whoever gave to
// a sync, and what is counted of them. All members know the same after the same sync (Tally), so
// that they stop after the same round and take the same learning rate. Whether this process is in,
// the other half says (EpochBoard); one that is not waits until it is, and takes over what the
// members hold. Never waits itself. Compute thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/threads.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/buckets.h"
#include "src/buckets/elastic_ring.h"
#include "src/buckets/epoch_board.h"
#include "src/buckets/ready_buckets.h"
#include "src/group/halves.h"
#include "src/group/mailbox.h"
#include "src/group/mode_settings.h"
#include "src/group/roster.h"
#include "src/group/start_wait.h"
#include "src/numbers/batch_plan.h"
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
    ElasticRing::StateMemory memory() { return {parameters, velocity}; }

    std::vector<float> parameters;
    Sgd optimizer;
    std::span<float> velocity;
};

class ElasticCompute final : public ComputeHalf {
  public:
    /// All references outlive this. `ring` is asked for the memory of its sums alone.
    ElasticCompute(const ModeSettings& settings, const Buckets& buckets, Mailbox& mailbox,
                   BucketBoard& board, EpochBoard& epochs, const ElasticRing& ring,
                   ElasticState& state);

    std::optional<Next> begin_round(Time now) override AKO_COMPUTE_THREAD;
    bool started() const override AKO_COMPUTE_THREAD { return started_; }
    std::vector<PeerIndex> missing() const override AKO_COMPUTE_THREAD;

    std::span<const float> replica() const override AKO_COMPUTE_THREAD { return state_.parameters; }
    bool settle(Range range) override AKO_COMPUTE_THREAD;
    bool settle_newest() override AKO_COMPUTE_THREAD {
        return settle({0, buckets_.parameter_count()});
    }
    void gradient_ready(Range range, std::span<const float> gradient) override AKO_COMPUTE_THREAD;
    /// Numbers that are not finite break the exchange off.
    Result<void> end_round(const Learned& learned, const RoundResult& result,
                           Time now) override AKO_COMPUTE_THREAD;

    void announce(const Verdict& verdict) override AKO_COMPUTE_THREAD;
    /// The strongest wish stands.
    void request_stop(StopReason reason) override AKO_COMPUTE_THREAD {
        wish_ = stronger(wish_, reason);
    }
    void request_leave() override AKO_COMPUTE_THREAD { asked_to_leave_ = true; }

    void copy_parameters(std::span<float> out) const override AKO_COMPUTE_THREAD;
    Standing standing() const override AKO_COMPUTE_THREAD;
    LinkView link(PeerIndex peer, Time now) const override AKO_COMPUTE_THREAD;

    bool waits_for_others() const override AKO_COMPUTE_THREAD { return true; }
    Time newest_sign_at() const override AKO_COMPUTE_THREAD { return board_.newest_sign_at(); }

    bool step_finish(Time now, bool hurried) override AKO_COMPUTE_THREAD;
    FinishReport report(std::span<float> out, Time now) override AKO_COMPUTE_THREAD;

    /// After the newest sync whose sums are all used here. For tests.
    const Tally& tally() const AKO_COMPUTE_THREAD { return tally_; }
    /// As the other half has it now. For tests.
    Place place() const AKO_COMPUTE_THREAD { return epochs_.place(); }

  private:
    void drain() AKO_COMPUTE_THREAD;
    /// What the other half says of who is in.
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
    StopReason stop_due() const AKO_COMPUTE_THREAD;
    bool somebody_stays() const AKO_COMPUTE_THREAD;
    /// The round counts for nothing: the exchange is over, or this process was put out meanwhile.
    bool is_void() const AKO_COMPUTE_THREAD { return broken_ || !in_ || !not_finite_.empty(); }
    void contribute(std::size_t bucket) AKO_COMPUTE_THREAD;
    void take_the_rest(std::span<const float> gradient) AKO_COMPUTE_THREAD;
    void assert_awaited(Range range) const AKO_COMPUTE_THREAD;
    /// Of the round that begins, of each member.
    std::size_t images() const AKO_COMPUTE_THREAD;
    std::uint64_t own_samples() const AKO_COMPUTE_THREAD;
    double progress_after(const Tally& tally) const AKO_COMPUTE_THREAD;
    bool evaluates() const AKO_COMPUTE_THREAD;
    std::string complaint(Round round) const;
    void post_status(bool urgent) AKO_COMPUTE_THREAD;
    bool one_has_ended() const AKO_COMPUTE_THREAD;
    bool all_told() const AKO_COMPUTE_THREAD;
    std::string why_not_agreed() const AKO_COMPUTE_THREAD;

    const ModeSettings settings_;  // constant after construction
    const Buckets& buckets_;
    Mailbox& mailbox_;
    BucketBoard& board_;
    EpochBoard& epochs_;
    const ElasticRing& ring_;
    ElasticState& state_;
    const std::size_t members_min_;  ///< that train
    const BatchPlan plan_;

    Roster roster_;
    StartWait start_wait_;
    Place place_;
    bool started_ = false;  ///< it has been in
    bool in_ = false;
    bool asked_ = false;               ///< to be taken in
    std::optional<Time> waits_since_;  ///< to be in, or for more members
    std::uint32_t told_in_ = 0;        ///< the epoch that a newcomer was told the state in

    Round round_ = 0;                     ///< of the run: as many as there were syncs
    std::uint64_t sync_ = 0;              ///< the newest begun
    std::vector<std::uint64_t> settled_;  ///< [bucket], sync
    std::size_t settled_count_ = 0;       ///< buckets of sync_
    std::uint64_t images_ = 0;            ///< of this round, of each member
    std::uint64_t sync_images_ = 0;       ///< and of that of sync_
    ReadyBuckets ready_;                  ///< of this round
    std::span<const float> gradient_;     ///< that is under way
    double rate_ = 0;                     ///< of its round
    SyncSummary newest_;                  ///< over what has been settled of sync_
    Tally tally_;                         ///< after the newest sync that is settled
    Tally before_;                        ///< after the one before that
    Tally known_;  ///< what all count with in this round: after the sync before its last one

    StopReason wish_ = StopReason::none;
    StopReason wish_of_round_ = StopReason::none;  ///< fixed for one sync
    StopReason stopped_for_ = StopReason::none;    ///< why training is over, once it is
    bool asked_to_leave_ = false;
    bool leaving_ = false;
    bool broken_ = false;
    std::string not_finite_;  ///< what of this peer's is not, for people; nothing of it is sent
    std::optional<float> loss_;
    std::optional<Verdict> verdict_;
    std::optional<Time> finish_since_;
    bool timed_out_ = false;
    Status status_;
};

}  // namespace ako
