// See changed_peers.h.
#include "src/wiring/changed_peers.h"

#include <fmt/format.h>

#include <algorithm>

#include "ako/mode_table.h"
#include "src/config/cluster_file.h"
#include "src/modes/bucket_budget.h"
#include "src/numbers/batch_plan.h"
#include "src/numbers/digest.h"

namespace ako {

ChangedPeers::ChangedPeers(const Settings& settings) : peers_(peer_names(settings)) {
    const ModeEntry& mode = entry_of(settings.exchange);
    why_not_ = mode.why_same_peers;
    averages_ = mode.learners == LearnersMeet::at_all_peers;
    const BatchPlan plan(settings.training, peers_.size());
    counts_rounds_ = plan.local_only();
    local_rounds_ = mode.every_round ? 1 : settings.exchange.local_sgd.rounds;
    round_samples_max_ =
        plan.local_only() ? settings.training.samples_per_round_max() : plan.share_max();
}

CheckpointId ChangedPeers::id(const CheckpointId& made, const Names& before) const {
    if (before == peers_) return made;
    const std::string text =
        fmt::format("start {} round {} of {} peers", made.start, made.round, before.size());
    // Of two that are of one round here the one that was made later is the newer one.
    constexpr unsigned round_at = 40;
    const std::uint64_t start = made.round << round_at | first_word(sha256(text)) >> 24;
    // What peers have made apart since they last met is of each of them, and given up.
    const Round together = made.round - made.round % local_rounds_;
    return {start, counts_rounds_ ? together * before.size() / peers_.size() : together};
}

void ChangedPeers::apply(Checkpoint& it, const Names& before) const {
    // Of peers that make rounds apart; another one begins at what all have.
    const auto average = it.floats.find("average"), replica = it.floats.find("replica");
    if (average != it.floats.end() && replica != it.floats.end()) replica->second = average->second;
    if (before == peers_) return;
    const CheckpointId made = it.id;
    it.id = id(made, before);
    const auto total = it.numbers.find("samples_total");
    if (total != it.numbers.end() && !counts_rounds_)
        total->second -= total->second * (made.round % local_rounds_) / made.round;
    if (total != it.numbers.end() && (averages_ || !counts_rounds_))
        it.samples = std::min(total->second / peers_.size(), it.id.round * round_samples_max_);
    else
        it.samples = it.samples * it.id.round / made.round;  // as many a round as it had
    if (averages_) BucketBudget::change_peers(it, before, peers_);
}

}  // namespace ako
