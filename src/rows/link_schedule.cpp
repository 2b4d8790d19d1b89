// The decision what a link carries next.
#include "src/rows/link_schedule.h"

#include <algorithm>
#include <utility>

namespace ako {

LinkSchedule::LinkSchedule(const Blocks& blocks, PeerIndex sender, PeerIndex receiver,
                           std::size_t peer_count)
    : blocks_(blocks), last_sent_(blocks.count(), 0) {
    const std::size_t ahead = (receiver + peer_count - sender) % peer_count;
    cursor_ = static_cast<BlockIndex>(ahead * blocks.count() / peer_count);
}

void LinkSchedule::begin_session() {
    unsent_ = round_ == 0 ? 0 : blocks_.count();
    credit_ = std::max(credit_, grant_);
    early_round_ = 0;
    std::fill(last_sent_.begin(), last_sent_.end(), 0);
}

void LinkSchedule::begin_round(Round round, double partitions_min) {
    round_ = round;
    unsent_ = blocks_.count();
    grant_ = blocks_.count() / partitions_min;
    // What was granted and not taken does not pile up, but for the fraction of a block: exact for
    // any P.
    credit_ = std::min(credit_, 1.0) + grant_;
    if (std::exchange(early_round_, 0) != round) return;
    credit_ = std::max(0.0, credit_ - (unsent_ - early_from_));
    unsent_ = early_from_;
    cursor_ = 0;
}

std::optional<BlockRun> LinkSchedule::next(BlockIndex count_max) {
    BlockIndex count = std::min({unsent_, count_max, blocks_.count() - cursor_});  // never wraps
    if (!lifted_) count = std::min(count, static_cast<BlockIndex>(credit_ + 1e-9));
    if (count == 0) return std::nullopt;

    const BlockRun run{cursor_, count};
    observe(run, round_);
    if (!lifted_) credit_ = std::max(0.0, credit_ - count);
    unsent_ -= count;
    cursor_ = (cursor_ + count) % blocks_.count();
    return run;
}

std::optional<BlockRun> LinkSchedule::next_early(Round round, BlockIndex first,
                                                 BlockIndex count_max) {
    // With a grant of less, all of it is taken up by whole rounds.
    if (unsent_ > 0 || !(lifted_ || grant_ >= blocks_.count())) return std::nullopt;
    if (std::exchange(early_round_, round) != round) early_from_ = blocks_.count();
    if (first >= early_from_) return std::nullopt;
    const BlockIndex count = std::min(count_max, early_from_ - first);
    early_from_ -= count;
    const BlockRun run{early_from_, count};
    observe(run, round);
    return run;
}

void LinkSchedule::observe(BlockRun run, Round round) {
    for (BlockIndex block = run.first; block < run.first + run.count; ++block) {
        Round& last = last_sent_[block];
        if (last != 0 && round > last) {
            const auto gap = static_cast<double>(round - last);
            const double weight = observed_ == 0 ? 1.0 : 1.0 / blocks_.count();
            observed_ += weight * (gap - observed_);
        }
        last = round;
    }
}

}  // namespace ako
