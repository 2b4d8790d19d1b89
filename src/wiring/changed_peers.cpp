// See changed_peers.h.
#include "src/wiring/changed_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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
}

Round ChangedPeers::rounds_here(Round before, std::size_t peers_before) const {
    // What peers have made apart since they last met is of each of them, and given up.
    const Round together = before - before % local_rounds_;
    return counts_rounds_ ? together * peers_before / peers_.size() : together;
}

CheckpointId ChangedPeers::id(const CheckpointId& before, std::size_t peers_before) const {
    const std::string text =
        fmt::format("start {} round {} of {} peers", before.start, before.round, peers_before);
    return {first_word(sha256(text)), rounds_here(before.round, peers_before)};
}

void ChangedPeers::apply(Checkpoint& it, const Names& before) const {
    const Round round = it.id.round;
    it.id = id(it.id, before.size());
    if (counts_rounds_) {
        it.samples = it.samples * it.id.round / round;  // as many a round as it had
    } else if (const auto total = it.number("samples_total")) {
        it.samples = *total / peers_.size();
    }
    // Of peers that make rounds apart; each begins at what all have.
    const auto average = it.floats.find("average"), replica = it.floats.find("replica");
    if (average != it.floats.end() && replica != it.floats.end())
        replica->second = average->second;
    if (averages_) BucketBudget::change_peers(it, before, peers_);
}

}  // namespace ako
