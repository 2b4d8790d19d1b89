// Every change of the replica, with the mark that explains it, in one pass per block.
#include "src/rows/replica.h"

#include <algorithm>

#include "ako/assert.h"
#include "src/rows/anchor.h"

namespace ako {
namespace {

/// What an element of the replica becomes when a block of a row is replaced.
float with_new_total(float replica, float weight, float new_value, float old_value) {
    return replica + weight * (new_value - old_value);
}

}  // namespace

Replica::Replica(const Ledger& ledger, std::span<const float> initial)
    : ledger_(ledger),
      initial_(initial),
      weight_(1.0f / static_cast<float>(ledger.row_count())),
      values_(initial.begin(), initial.end()),
      marks_(ledger.row_count()) {}

void Replica::add_own(Range range, std::span<const float> difference) {
    const float weight = weight_ * static_cast<float>(1 + standing_in_count_);
    float* replica = values_.data() + range.first;
    for (std::size_t k = 0; k < range.count; ++k) replica[k] += weight * difference[k];
    // A fading stand-in does not grow: its mark moves with the own row.
    for (Marks& marks : marks_) {
        if (marks.state != Marks::State::fading) continue;
        float* mark = marks.values.data() + range.first;
        for (std::size_t k = 0; k < range.count; ++k) mark[k] += difference[k];
    }
}

void Replica::absorb(PeerIndex peer, BlockIndex block, std::span<const float> new_values,
                     const double* share) {
    const Range range = ledger_.blocks().range(block);
    const float weight = weight_;
    const float* fresh = new_values.data();
    const float* held = ledger_.block(row_of(peer), block).data();
    float* replica = values_.data() + range.first;
    if (share == nullptr) {
        for (std::size_t k = 0; k < range.count; ++k) {
            replica[k] = with_new_total(replica[k], weight, fresh[k], held[k]);
        }
        return;
    }
    AKO_ASSERT(stands_in(peer), "a share of a stand-in that is not there: " + std::to_string(peer));
    const auto part = static_cast<float>(*share);
    const float* own = ledger_.block(ledger_.own(), block).data();
    float* mark = marks_[peer].values.data() + range.first;
    for (std::size_t k = 0; k < range.count; ++k) {
        const float moved = mark[k] + part * (own[k] - mark[k]);
        replica[k] =
            with_new_total(replica[k], weight, fresh[k], held[k]) - weight * (moved - mark[k]);
        mark[k] = moved;
    }
}

double Replica::share(PeerIndex peer, BlockIndex block, Time sealed_at, Time now) {
    Time& last = marks_[peer].last_seal[block];
    const Time made_before = std::clamp(sealed_at - last, Time{0}, std::max(now - last, Time{0}));
    const Time made_in_all = now - last;
    last = std::max(last, sealed_at);
    if (made_in_all <= Time{0}) return 1.0;
    return static_cast<double>(made_before.count()) / static_cast<double>(made_in_all.count());
}

void Replica::begin_standing_in(PeerIndex peer, Time now) {
    Marks& marks = marks_[peer];
    AKO_ASSERT(marks.state != Marks::State::standing_in, "peer " + std::to_string(peer));
    if (marks.state == Marks::State::none) {
        const std::span<const float> own = ledger_.values(ledger_.own());
        marks.values.assign(own.begin(), own.end());
    }  // a stand-in that was still fading stays as it is and grows again
    marks.last_seal.assign(ledger_.blocks().count(), now);
    marks.state = Marks::State::standing_in;
    ++standing_in_count_;
}

void Replica::stop_standing_in(PeerIndex peer) {
    Marks& marks = marks_[peer];
    AKO_ASSERT(marks.state == Marks::State::standing_in, "peer " + std::to_string(peer));
    marks.state = Marks::State::fading;
    marks.fade_rounds_left = fade_rounds;
    --standing_in_count_;
}

void Replica::fade() {
    const std::span<const float> own = ledger_.values(ledger_.own());
    for (Marks& marks : marks_) {
        if (marks.state != Marks::State::fading) continue;
        const float part = 1.0f / static_cast<float>(marks.fade_rounds_left);
        for (std::size_t k = 0; k < own.size(); ++k) {
            const float moved = marks.values[k] + part * (own[k] - marks.values[k]);
            values_[k] -= weight_ * (moved - marks.values[k]);
            marks.values[k] = moved;
        }
        if (--marks.fade_rounds_left == 0) marks.state = Marks::State::none;
    }
}

void Replica::begin_anew() {
    for (Marks& marks : marks_) marks.state = Marks::State::none;
    standing_in_count_ = 0;
    compute({0, values_.size()}, values_);
}

void Replica::rebuild_next() {
    const Blocks& blocks = ledger_.blocks();
    const auto per_round =
        static_cast<BlockIndex>((blocks.count() + rebuild_parts - 1) / rebuild_parts);
    const BlockRun run{rebuild_cursor_, std::min(per_round, blocks.count() - rebuild_cursor_)};
    const Range range = blocks.range(run);
    compute(range, std::span<float>(values_).subspan(range.first, range.count));
    rebuild_cursor_ = (run.first + run.count) % blocks.count();
}

void Replica::compute(Range range, std::span<float> out) const {
    compute_anchor(initial_, ledger_.rows(), range, out);
    const std::span<const float> own =
        ledger_.values(ledger_.own()).subspan(range.first, range.count);
    for (const Marks& marks : marks_) {
        if (marks.state == Marks::State::none) continue;
        const float* mark = marks.values.data() + range.first;
        for (std::size_t k = 0; k < range.count; ++k) out[k] += weight_ * (own[k] - mark[k]);
    }
}

}  // namespace ako
