// The compute half of every mode that exchanges buckets: when a round may begin, when training is
// over, which buckets are ready and which are current. Never waits itself. Compute thread only.
// Speaks to the traffic half through the mailbox and the board.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ako/threads.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/bucket_protocol.h"
#include "src/buckets/bucket_rule.h"
#include "src/buckets/buckets.h"
#include "src/buckets/ready_buckets.h"
#include "src/group/common_start.h"
#include "src/group/halves.h"
#include "src/group/mailbox.h"
#include "src/group/mode_settings.h"
#include "src/group/roster.h"
#include "src/group/start_wait.h"
#include "src/numbers/batch_growth.h"
#include "src/numbers/batch_plan.h"

namespace ako {

class BucketCompute final : public ComputeHalf {
  public:
    /// All references outlive this. `rule` is null for a peer that only serves.
    BucketCompute(const ModeSettings& settings, const Buckets& buckets, Mailbox& mailbox,
                  BucketBoard& board, BucketProtocol& protocol, std::unique_ptr<BucketRule> rule);

    std::optional<Next> begin_round(Time now) override AKO_COMPUTE_THREAD;
    bool started() const override AKO_COMPUTE_THREAD { return started_; }
    std::vector<PeerIndex> missing() const override AKO_COMPUTE_THREAD;

    std::span<const float> replica() const override AKO_COMPUTE_THREAD { return rule_->replica(); }
    bool settle(Range range) override AKO_COMPUTE_THREAD;
    bool settle_newest() override AKO_COMPUTE_THREAD {
        return settle_range({0, buckets_.parameter_count()});
    }
    bool make_way(Range range) override AKO_COMPUTE_THREAD;
    void gradient_ready(Range range, std::span<const float> gradient) override AKO_COMPUTE_THREAD;
    /// Numbers that are not finite break the exchange off.
    Result<void> end_round(const Learned& learned, const RoundResult& result,
                           Time now) override AKO_COMPUTE_THREAD;

    void announce(const Verdict& verdict) override AKO_COMPUTE_THREAD;
    /// The strongest wish stands.
    void request_stop(StopReason reason) override AKO_COMPUTE_THREAD {
        wish_ = stronger(wish_, reason);
    }
    /// Only a worker that is no server can be spared.
    void request_leave() override AKO_COMPUTE_THREAD;

    void copy_parameters(std::span<float> out) const override AKO_COMPUTE_THREAD;
    Standing standing() const override AKO_COMPUTE_THREAD;
    LinkView link(PeerIndex peer, Time now) const override AKO_COMPUTE_THREAD;

    bool save(Checkpoint& out) override AKO_COMPUTE_THREAD;
    void tell_kept(const std::vector<CheckpointId>& kept) override AKO_COMPUTE_THREAD;

    bool waits_for_others() const override AKO_COMPUTE_THREAD { return true; }
    Time newest_sign_at() const override AKO_COMPUTE_THREAD { return board_.newest_sign_at(); }

    bool step_finish(Time now, bool hurried = false) override AKO_COMPUTE_THREAD;
    FinishReport report(std::span<float> out, Time now) override AKO_COMPUTE_THREAD;

  private:
    void drain() AKO_COMPUTE_THREAD;
    /// Everybody is here: begins the training, or goes on with it. What is wrong, if anything, for
    /// people.
    std::string start() AKO_COMPUTE_THREAD;
    Result<void> restore(std::shared_ptr<const Checkpoint> from) AKO_COMPUTE_THREAD;
    /// Of the newest sync.
    bool settle_range(Range range) AKO_COMPUTE_THREAD;
    /// Who has given something of an average without saying how many learners made it.
    std::optional<PeerIndex> without_learners(const SyncSummary& summary) const;
    bool settle_bucket(std::size_t bucket, std::uint64_t sync) AKO_COMPUTE_THREAD;
    std::span<const float> parameters() const { return rule_->parameters(); }
    bool serves_only() const { return rule_ == nullptr; }
    bool lockstep() const;
    /// False: it is to be waited for; true: it never comes.
    bool look_for_break() AKO_COMPUTE_THREAD;
    /// Of the newest sync.
    bool is_settled(Range range) const AKO_COMPUTE_THREAD;
    /// Are all its sums here?
    bool complete(Range range) const AKO_COMPUTE_THREAD;
    /// Why training is over; `none` if it is not.
    StopReason stop_due() const AKO_COMPUTE_THREAD;
    /// Does another worker go on without this one?
    bool somebody_stays() const AKO_COMPUTE_THREAD;
    /// Begins the sync that ends local rounds, if the newest round was none's.
    void sync_the_rest() AKO_COMPUTE_THREAD;
    /// The newest but for this round's own.
    std::uint64_t sync_before_round() const AKO_COMPUTE_THREAD {
        return sync_ - (synced_round_ == round_ + 1 ? 1 : 0);
    }
    /// Of that.
    void assert_awaited(Range range) const AKO_COMPUTE_THREAD;
    void take_the_rest(std::span<const float> gradient) AKO_COMPUTE_THREAD;
    void take_update(std::span<const float> update, std::size_t learners) AKO_COMPUTE_THREAD;
    void take(Range range, std::span<const float> gradient) AKO_COMPUTE_THREAD;
    /// `rule_` has taken in this range; buckets that are complete go out.
    void taken(Range range) AKO_COMPUTE_THREAD;
    void contribute(std::size_t bucket) AKO_COMPUTE_THREAD;
    void give(std::size_t bucket) AKO_COMPUTE_THREAD;
    std::string complaint(Round round) const;
    std::uint64_t rounds_made() const;
    /// Of all workers together, as known alike by all; foreseen, where one may be lost meanwhile.
    std::uint64_t samples_made() const;
    bool spent() const;
    /// Is it the same for all to count samples? Where a round of all has a global batch, or its
    /// learners say how many they are; not where a server counts the rounds of single workers.
    bool counts_samples() const {
        return averages() ||
               (!plan_.local_only() && settings_.exchange.mode != Mode::parameter_server);
    }
    /// Is the replica an average of learners?
    bool averages() const { return settings_.exchange.mode == Mode::sma; }
    /// A round of all has been made.
    void add_samples() AKO_COMPUTE_THREAD;
    /// Images of a round, by the learners of the newest that is known of; 0 = not said, or not by
    /// learners.
    std::size_t images_of_learners() const {
        return known_.learners() * settings_.training.batch.local;
    }
    Wish own_wish() const { return {wish_, static_cast<std::uint8_t>(growth_.wish())}; }
    /// So many times the global batch of the next round is doubled, alike at all.
    unsigned doublings() const { return known_.wish.doublings; }
    double progress() const AKO_COMPUTE_THREAD;
    double rate() const AKO_COMPUTE_THREAD {
        return plan_.learning_rate(progress(), doublings());
    }
    bool evaluates() const AKO_COMPUTE_THREAD;
    void post_status(bool urgent) AKO_COMPUTE_THREAD;
    bool all_told() const AKO_COMPUTE_THREAD;

    const ModeSettings settings_;  // constant after construction
    const Buckets& buckets_;
    Mailbox& mailbox_;
    BucketBoard& board_;
    BucketProtocol& protocol_;
    const std::span<const float> result_;  ///< of the protocol
    const std::unique_ptr<BucketRule> rule_;
    const std::size_t worker_count_;
    const BatchPlan plan_;
    const std::size_t place_;            ///< among the workers
    std::size_t global_;  ///< images of the newest round, of all workers; of learners foreseen
    const bool runs_ahead_;              ///< see exchange.rounds_ahead
    const std::uint64_t rounds_budget_;  ///< of all workers together, while the batch is the first

    Roster roster_;
    bool started_ = false;
    StartWait start_wait_;
    CommonStart common_;
    std::uint64_t start_ = 0;  ///< of the run; from the first round on
    Round round_ = 0;
    Round synced_round_ = 0;              ///< the newest round that a sync took in
    std::uint64_t sync_ = 0;              ///< the newest begun
    std::vector<std::uint64_t> settled_;  ///< [bucket], sync
    std::vector<double> rates_;           ///< [bucket], of the round of its newest sync
    ReadyBuckets ready_;                  ///< of this round
    SyncSummary newest_;  ///< merged over what has been settled since the last round's end
    SyncSummary known_;   ///< what every peer knows alike at this round (modes in lockstep)
    StopReason wish_ = StopReason::none;
    Wish wish_of_round_;  ///< fixed for one sync
    BatchGrowth growth_;
    std::uint64_t samples_ = 0;        ///< that this peer has trained on
    std::uint64_t samples_total_ = 0;  ///< that all have, where it `counts_samples`
    StopReason stopped_for_ = StopReason::none;    ///< why training is over, once it is
    bool asked_to_leave_ = false;
    bool leaving_ = false;  ///< and all it has pushed is taken in
    bool broken_ = false;
    std::string not_finite_;  ///< what of this peer's is not, for people; nothing of it is sent
    mutable double progress_ = 0;
    std::optional<float> loss_;
    std::optional<Verdict> verdict_;
    std::optional<Time> finish_since_;
    bool digest_posted_ = false;
    Status status_;
    bool timed_out_ = false;
};

}  // namespace ako
