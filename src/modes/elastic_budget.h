// How far the training has come in an elastic ring, as all members know it alike after the same
// sync (Tally), and what follows from that: how many samples a round takes, at which learning rate,
// and when the budget is spent. Compute thread only.
#pragma once

#include <cstdint>

#include "ako/membership.h"
#include "src/buckets/bucket_board.h"
#include "src/exchange/mode_settings.h"
#include "src/numbers/batch_plan.h"

namespace ako {

class ElasticBudget {
  public:
    /// `settings` outlives this.
    explicit ElasticBudget(const ModeSettings& settings)
        : settings_(settings), plan_(settings.training, settings.peer_count()) {}

    /// The run begins with these.
    void begin(PeerSet founders);
    /// Goes on from what members say that they know.
    void take_over(const MemberState& said);

    /// A round begins: the samples of each member.
    std::size_t begin_round();
    double rate(Round made) const { return plan_.learning_rate(progress(made), 0); }
    /// The first bucket of the round goes out.
    void begin_sync() { sync_samples_ = round_samples_; }
    /// The result of a bucket is used; this came with it.
    void settled(const SyncSummary& summary) { newest_.merge(summary); }
    /// The results of all buckets of this sync are.
    void sync_over(std::uint64_t sync);
    void end_round() { known_ = tally_; }

    /// What all count with in this round: see `tally` of the sync before its last one.
    double progress(Round made) const { return made == 0 ? 0 : known_.progress; }
    /// In lockstep all must stop after the same round, so only what all of them know alike counts.
    StopReason stop_due(Round made) const;
    /// What this peer has trained on. What it gave to a sync that is not settled yet counts as soon
    /// as that is.
    std::uint64_t own_samples(Round made) const;

    /// After the newest sync whose results are all used here, and after the one before that.
    const Tally& tally() const { return tally_; }
    const Tally& before() const { return before_; }

  private:
    /// With one more round of the same members.
    std::uint64_t samples_after(const Tally& tally) const;
    void set_progress();

    const ModeSettings& settings_;
    const BatchPlan plan_;
    std::uint64_t round_samples_ = 0;  ///< of the round under way, of each member
    std::uint64_t sync_samples_ = 0;   ///< and of that of the newest sync
    SyncSummary newest_;               ///< over what has been settled of that
    Tally tally_;
    Tally before_;
    Tally known_;
};

}  // namespace ako
