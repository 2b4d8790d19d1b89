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

void Replica::add_own(Range range, std::span<const float> difference,
                      std::span<const float> gave_way) {
    const float weight = weight_ * static_cast<float>(1 + standing_in_count_);
    float* replica = values_.data() + range.first;
    for (std::size_t k = 0; k < range.count; ++k) replica[k] += weight * difference[k];
    for (std::size_t k = 0; k < gave_way.size(); ++k) replica[k] += weight * gave_way[k];
    for (Marks& marks : marks_) {
        if (marks.state == Marks::State::standing_in) {
            // What gave way is nothing that the own row has learned, or unlearned.
            float* mark = marks.values.data() + range.first;
            for (std::size_t k = 0; k < gave_way.size(); ++k) mark[k] -= gave_way[k];
        } else if (marks.state == Marks::State::giving_way) {
            // It stands in as it is, and does not grow yet.
            float* mark = marks.values.data() + range.first;
            for (std::size_t k = 0; k < range.count; ++k) mark[k] += difference[k];
        }
    }
}

void Replica::keep_up(PeerIndex peer, BlockIndex block, std::span<const float> difference) {
    const Range range = ledger_.blocks().range(block);
    float* const replica = values_.data() + range.first;
    float* const mark = marks_[peer].values.data() + range.first;
    for (std::size_t k = 0; k < range.count; ++k) {
        replica[k] -= weight_ * difference[k];
        mark[k] += difference[k];
    }
}

void Replica::absorb(PeerIndex peer, BlockIndex block, std::span<const float> new_values,
                     const double* share, const OwnPast::Moment* at_seal) {
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
    AKO_ASSERT(!apart(peer), "a share of a stand-in that is not there: " + std::to_string(peer));
    const auto part = static_cast<float>(*share);
    Marks& marks = marks_[peer];
    if (marks.state == Marks::State::fading) {
        float* left = marks.fading.data() + range.first;
        for (std::size_t k = 0; k < range.count; ++k) {
            const float kept = (1.0f - part) * left[k];
            replica[k] =
                with_new_total(replica[k], weight, fresh[k], held[k]) - weight * (left[k] - kept);
            left[k] = kept;
        }
        return;
    }
    float* mark = marks.values.data() + range.first;
    const float* from = mark;
    const float* to = ledger_.block(ledger_.own(), block).data();
    if (at_seal != nullptr) {
        from = at_seal->before->values.data() + range.first;
        to = at_seal->after->values.data() + range.first;
    }
    const float moves = at_seal != nullptr ? at_seal->part : part;
    for (std::size_t k = 0; k < range.count; ++k) {
        const float moved = from[k] + moves * (to[k] - from[k]);
        replica[k] =
            with_new_total(replica[k], weight, fresh[k], held[k]) - weight * (moved - mark[k]);
        mark[k] = moved;
    }
}

double Replica::share(PeerIndex peer, BlockIndex block, Time sealed_at, Time now) {
    Time& last = marks_[peer].last_seal[block];
    if (last == before_all) {
        last = sealed_at;
        return 1.0;
    }
    const Time made_before = std::clamp(sealed_at - last, Time{0}, std::max(now - last, Time{0}));
    const Time made_in_all = now - last;
    last = std::max(last, sealed_at);
    if (made_in_all <= Time{0}) return 1.0;
    return static_cast<double>(made_before.count()) / static_cast<double>(made_in_all.count());
}

void Replica::begin_standing_in(PeerIndex peer, Time now) {
    Marks& marks = marks_[peer];
    AKO_ASSERT(marks.state == Marks::State::none || marks.state == Marks::State::fading,
               "peer " + std::to_string(peer));
    if (marks.state == Marks::State::none) {
        mark_own_row(marks);
    } else {  // a stand-in that was still fading stays as it is and grows again
        const std::span<const float> own = ledger_.values(ledger_.own());
        for (std::size_t k = 0; k < own.size(); ++k) marks.values[k] = own[k] - marks.fading[k];
        marks.fading = {};
    }
    marks.last_seal.assign(ledger_.blocks().count(), now);
    marks.state = Marks::State::standing_in;
    ++standing_in_count_;
}

void Replica::stop_standing_in(PeerIndex peer) {
    Marks& marks = marks_[peer];
    AKO_ASSERT(marks.state == Marks::State::standing_in, "peer " + std::to_string(peer));
    begin_fading(marks);
    marks.since = own_round();
    --standing_in_count_;
}

void Replica::begin_fading(Marks& marks) {
    const Blocks& blocks = ledger_.blocks();
    const std::span<const float> own = ledger_.values(ledger_.own());
    marks.fading.resize(own.size());
    for (std::size_t k = 0; k < own.size(); ++k) marks.fading[k] = own[k] - marks.values[k];
    for (BlockIndex block = 0; block < blocks.count(); ++block) {
        if (marks.last_seal[block] != before_all) continue;
        // What gave way has left the own row, and cannot do so once more.
        const Range range = blocks.range(block);
        std::copy_n(own.begin() + static_cast<std::ptrdiff_t>(range.first), range.count,
                    marks.values.begin() + static_cast<std::ptrdiff_t>(range.first));
    }
    marks.state = Marks::State::fading;
    marks.fade_rounds_left = fade_rounds;
}

void Replica::fade() {
    for (Marks& marks : marks_) {
        if (marks.state != Marks::State::fading) continue;
        const float part = 1.0f / static_cast<float>(marks.fade_rounds_left);
        for (std::size_t k = 0; k < values_.size(); ++k) {
            const float gone = part * marks.fading[k];
            values_[k] -= weight_ * gone;
            marks.fading[k] -= gone;
        }
        if (--marks.fade_rounds_left > 0) continue;
        marks.fading = {};
        marks.state = Marks::State::none;
    }
}

void Replica::mark_own_row(Marks& marks) {
    const std::span<const float> own = ledger_.values(ledger_.own());
    marks.values.assign(own.begin(), own.end());
    marks.since = own_round();
}

void Replica::heard_of(PeerIndex peer) {
    AKO_ASSERT(apart(peer), "peer " + std::to_string(peer));
    mark_own_row(marks_[peer]);
}

void Replica::give_way(PeerIndex peer, BlockIndex block, double share, Round before,
                       std::span<float> gave_way) {
    Marks& marks = marks_[peer];
    if (marks.values.empty()) marks.values.resize(values_.size());
    marks.state = Marks::State::giving_way;
    const Range range = ledger_.blocks().range(block);
    const auto part = static_cast<float>(share);
    const bool has_come = ledger_.version(row_of(peer), block).round > before;
    const float* own = ledger_.values(ledger_.own()).data() + range.first;
    float* replica = values_.data() + range.first;
    float* mark = marks.values.data() + range.first;
    for (std::size_t k = 0; k < range.count; ++k) {
        const float gives = part * (own[k] - gave_way[k] - mark[k]);
        gave_way[k] += gives;
        mark[k] = own[k];  // add_own moves it with the row
        if (has_come) {
            replica[k] -= weight_ * gives;
        } else {
            mark[k] -= gives;
        }
    }
}

void Replica::end_giving_way(PeerIndex peer, bool advances) {
    Marks& marks = marks_[peer];
    AKO_ASSERT(marks.state == Marks::State::giving_way, "peer " + std::to_string(peer));
    marks.last_seal.assign(ledger_.blocks().count(), before_all);
    marks.since = own_round();
    if (!advances) return begin_fading(marks);
    marks.state = Marks::State::standing_in;
    ++standing_in_count_;
}

void Replica::begin_anew() {
    for (Marks& marks : marks_) {
        marks.state = Marks::State::none;
        marks.fading = {};
        marks.values = {};
        marks.since = own_round();
        if (own_round() > 0) mark_own_row(marks);
    }
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
        if (marks.state == Marks::State::fading) {
            const float* left = marks.fading.data() + range.first;
            for (std::size_t k = 0; k < range.count; ++k) out[k] += weight_ * left[k];
            continue;
        }
        const float* mark = marks.values.data() + range.first;
        for (std::size_t k = 0; k < range.count; ++k) out[k] += weight_ * (own[k] - mark[k]);
    }
}

}  // namespace ako
