// The compute half of every mode that exchanges buckets: when a round may begin, when training is
// over, which buckets are ready and which are current; what all modes in lockstep share is
// LockstepCompute's. Never waits itself. Compute thread only. Speaks to the traffic half through
// the mailbox and the board.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ako/threads.h"
#include "src/buckets/bucket_protocol.h"
#include "src/buckets/bucket_rule.h"
#include "src/exchange/common_start.h"
#include "src/exchange/start_wait.h"
#include "src/modes/bucket_budget.h"
#include "src/modes/lockstep_compute.h"

namespace ako {

class BucketCompute final : public LockstepCompute {
  public:
    /// All references outlive this. `rule` is null for a peer that only serves.
    BucketCompute(const ModeSettings& settings, const Buckets& buckets, Mailbox& mailbox,
                  BucketBoard& board, BucketProtocol& protocol, std::unique_ptr<BucketRule> rule);

    std::optional<Next> begin_round(Time now) override AKO_COMPUTE_THREAD;
    std::vector<PeerIndex> missing() const override AKO_COMPUTE_THREAD { return common_.silent(); }

    std::span<const float> replica() const override AKO_COMPUTE_THREAD { return rule_->replica(); }
    bool step_await(Range range) override AKO_COMPUTE_THREAD {
        return runs_ahead_ || settle_range(range);
    }
    bool step_settle() override AKO_COMPUTE_THREAD {
        return settle_range({0, buckets_.parameter_count()});
    }
    bool step_make_way(Range range) override AKO_COMPUTE_THREAD;
    bool gradient_ready(Range range, std::span<const float> gradient,
                        Time now) override AKO_COMPUTE_THREAD;
    /// Numbers that are not finite break the exchange off.
    Result<void> end_round(const Learned& learned, const RoundResult& result,
                           Time now) override AKO_COMPUTE_THREAD;

    /// Only a worker that is no server can be spared.
    void request_leave() override AKO_COMPUTE_THREAD;
    Standing standing() const override AKO_COMPUTE_THREAD;

    bool save(Checkpoint& out) override AKO_COMPUTE_THREAD;
    void tell_checkpoints(const CheckpointNews& news) override AKO_COMPUTE_THREAD;

    bool step_finish(Time now, bool hurried = false) override AKO_COMPUTE_THREAD;

  private:
    bool is_in() const override AKO_COMPUTE_THREAD { return rule_ != nullptr; }
    std::span<const float> parameters() const override AKO_COMPUTE_THREAD;
    double progress() const override AKO_COMPUTE_THREAD;
    std::uint64_t own_samples() const override AKO_COMPUTE_THREAD { return samples_; }
    std::vector<std::uint64_t> samples_of_all() const override AKO_COMPUTE_THREAD;
    std::optional<Digest> digest_of_run() const override AKO_COMPUTE_THREAD;
    PeerSet heirs() const override AKO_COMPUTE_THREAD;

    /// Everybody is here: begins the training, or goes on with it. What is wrong, if anything, for
    /// people.
    std::string start() AKO_COMPUTE_THREAD;
    Result<void> restore(std::shared_ptr<const Checkpoint> from) AKO_COMPUTE_THREAD;
    /// Uses what has come of the newest sync, for this range.
    bool settle_range(Range range) AKO_COMPUTE_THREAD;
    bool settle_bucket(std::size_t bucket, std::uint64_t sync) AKO_COMPUTE_THREAD;
    /// False: it is to be waited for; true: it never comes.
    bool look_for_break() AKO_COMPUTE_THREAD;
    /// Why training is over; `none` if it is not.
    StopReason stop_due() const AKO_COMPUTE_THREAD;
    std::optional<Next> stop(StopReason reason) AKO_COMPUTE_THREAD;
    /// Begins the sync that ends local rounds, if the newest round was none's.
    void sync_the_rest() AKO_COMPUTE_THREAD;
    /// The newest but for this round's own.
    std::uint64_t sync_before_round() const AKO_COMPUTE_THREAD {
        return syncs_.newest() - (synced_round_ == round_ + 1 ? 1 : 0);
    }
    void take_update(std::span<const float> update, std::size_t learners) AKO_COMPUTE_THREAD;
    void take(Range range, std::span<const float> gradient) AKO_COMPUTE_THREAD;
    /// `rule_` has taken in this range; buckets that are complete go out.
    void taken(Range range) AKO_COMPUTE_THREAD;
    void contribute(std::size_t bucket) AKO_COMPUTE_THREAD;
    void give(std::size_t bucket) AKO_COMPUTE_THREAD;

    BucketProtocol& protocol_;
    const std::span<const float> result_;  ///< of the protocol
    const std::unique_ptr<BucketRule> rule_;
    const bool runs_ahead_;  ///< see exchange.rounds_ahead
    BucketBudget budget_;

    StartWait start_wait_;
    CommonStart common_;
    std::uint64_t start_ = 0;    ///< of the run; from the first round on
    Round synced_round_ = 0;     ///< the newest round that a sync took in
    std::vector<double> rates_;  ///< [bucket], of the round of its newest sync
    Wish wish_of_round_;         ///< fixed for one sync
    std::uint64_t samples_ = 0;  ///< that this peer has trained on
};

}  // namespace ako
