// How far any peer can have come in this run: what others say of rounds and samples is held against
// it, so that one number that cannot be meant neither ends the run nor makes every later update of
// somebody late. Every peer has the same budget, batch plan and learners (the training digest says
// so), so every peer has the same bounds. Pure; any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ako/frame.h"
#include "src/exchange/mode_settings.h"
#include "src/numbers/batch_plan.h"

namespace ako {

struct RunBounds {
    std::uint64_t batch = 1;  ///< samples of one round, at most
    Round round_max = 0;

    /// The most rounds are those of a peer that hears of nobody and makes the whole budget alone:
    /// the budget in batches, rounded up; one more for the round under way when it stops; one that
    /// closes its row; and one for each peer that it meets again after that and gives way to.
    static RunBounds of(const ModeSettings& settings) {
        const BatchPlan plan(settings.training, settings.workers().size());
        return {plan.share_max(),
                settings.sample_budget / plan.share_min() + 3 + settings.peer_count()};
    }

    /// What is wrong with these, if anything; `field` is the name of the round.
    std::optional<std::string> refuse(Round round, const char* field) const {
        if (round <= round_max) return std::nullopt;
        return std::string(field) + " is round " + std::to_string(round) +
               " in a run in which no peer makes more than " + std::to_string(round_max);
    }
    /// Requires that `status` has the progress of every peer of the file. Returns what is wrong if
    /// one of its numbers is beyond its bound, or if it names anybody else.
    std::optional<std::string> refuse(const Status& status) const {
        const std::size_t peer_count = status.standing.progress.size();
        if (peer_count < peers_max && status.standing.asked >> peer_count != 0) {
            return "Status.asked names peer " +
                   std::to_string(std::bit_width(status.standing.asked) - 1) + " in a cluster of " +
                   std::to_string(peer_count);
        }
        if (status.standing.final_round) {
            if (auto complaint = refuse(*status.standing.final_round, "Status.final_round"))
                return complaint;
        }
        for (const Progress& progress : status.standing.progress) {
            if (auto complaint = refuse(progress.round, "Status.progress")) return complaint;
            if (progress.samples > progress.round * batch)
                return "Status.progress has " + std::to_string(progress.samples) + " samples in " +
                       std::to_string(progress.round) + " rounds of " + std::to_string(batch);
        }
        return std::nullopt;
    }
};

}  // namespace ako
