// How far the training of all workers has come in a mode with buckets, as all of them know it
// alike, and what follows from that: how many samples a round takes, at which learning rate, and
// when the budget is spent. What came with the sums of a sync counts from the round after the next
// on, whose forward pass everybody has awaited. Compute thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ako/checkpoint.h"
#include "ako/mode_table.h"
#include "ako/threads.h"
#include "src/buckets/bucket_board.h"
#include "src/exchange/mode_settings.h"
#include "src/numbers/batch_growth.h"
#include "src/numbers/batch_plan.h"

namespace ako {

/// In a checkpoint, by this name: was the accuracy reached that the run is to stop at? What
/// training has come to stays; that somebody has asked for the end is over with a start.
void put_reached(Checkpoint& out, const std::string& name, StopReason stop);
StopReason reached(const Checkpoint& from, const std::string& name);

class BucketBudget {
  public:
    /// `settings` outlives this.
    explicit BucketBudget(const ModeSettings& settings);

    /// Do all know the same at the same round? Else a worker may be ahead.
    bool in_lockstep() const;
    /// Is the replica an average of learners?
    bool averages() const {
        return entry_of(settings_.exchange).learners == LearnersMeet::at_all_peers;
    }

    /// A round begins: the samples of this peer's share.
    std::size_t begin_round(Round made);
    /// The result of a bucket is used; this came with it.
    void settled(const SyncSummary& summary) { newest_.follow(summary); }
    /// A round of all has been made, after so many before it.
    void end_round(Round made, std::optional<double> noise_scale);

    /// What every peer knows alike at this round (modes in lockstep), and what it has heard since.
    const SyncSummary& known() const { return known_; }
    const SyncSummary& newest() const { return newest_; }
    /// Those of all peers, in the newest round that is known of; 0: in none, or not said.
    std::size_t learners() const;
    /// A peer that has given something of an average without saying how many learners made it.
    std::optional<PeerIndex> without_learners(const SyncSummary& summary) const;
    /// So many doublings of the batch are due, as far as this peer knows.
    std::uint8_t doublings_due() const { return static_cast<std::uint8_t>(growth_.wish()); }

    /// 0 .. 1; never falls.
    double progress(Round made) const;
    double rate(Round made) const { return plan_.learning_rate(progress(made), doublings()); }
    bool spent(Round made) const;

    void save(Checkpoint& out) const;
    Result<void> restore(const Checkpoint& from);
    /// In a checkpoint of these peers, `before`: what it says of each becomes what it says of
    /// `now`, of whom those that are new are as the first of the others was.
    static void change_peers(Checkpoint& it, const std::vector<std::string>& before,
                             const std::vector<std::string>& now);

  private:
    /// By all workers together, as known alike by all; foreseen, where one may be lost meanwhile.
    std::uint64_t rounds_made(Round made) const;
    /// Is it the same for all to count samples? Where a round of all has a global batch, or its
    /// learners say how many they are; not where a server counts the rounds of single workers.
    bool counts_samples() const {
        return averages() || (!plan_.local_only() && !entry_of(settings_.exchange).has_servers);
    }
    /// Samples of a round, by the learners of the newest that is known of; 0 = not said, or not by
    /// learners.
    std::size_t samples_of_learners() const {
        return known_.learners() * settings_.training.batch.local;
    }
    /// So many times the global batch of the next round is doubled, alike at all.
    unsigned doublings() const { return known_.wish.doublings; }

    const ModeSettings& settings_;
    const std::size_t worker_count_;
    const BatchPlan plan_;
    const std::size_t place_;  ///< among the workers
    std::size_t global_;  ///< samples of the newest round, of all workers; of learners foreseen
    const std::uint64_t rounds_end_;  ///< of all workers together, while the batch is the first
    SyncSummary newest_;  ///< merged over what has been settled since the last round's end
    SyncSummary known_;
    BatchGrowth growth_;
    std::uint64_t samples_total_ = 0;  ///< that all have trained on, where it `counts_samples`
    mutable double progress_ = 0;
};

}  // namespace ako
