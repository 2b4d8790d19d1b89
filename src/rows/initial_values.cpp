// See initial_values.h.
#include "src/rows/initial_values.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "src/numbers/checksum.h"
#include "src/numbers/digest.h"

namespace ako {

InitialValues::InitialValues(std::span<float> values, const Blocks& blocks, const Roster& roster,
                             bool of_lowest)
    : values_(values),
      blocks_(blocks),
      roster_(roster),
      known_(!of_lowest),
      puller_(roster, blocks.count(), true),
      lacking_(of_lowest ? blocks.count() : 0) {}

void InitialValues::keep_own() { complete(); }

void InitialValues::complete() {
    known_ = true;
    lacking_ = 0;
    said_ = sha256(std::as_bytes(std::span<const float>(values_)));
}

PeerSet InitialValues::holders() const {
    PeerSet holders = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::optional<Status>& status = roster_[peer].status;
        if (peer == roster_.self() || !roster_.reachable(peer) || !status) continue;
        if (status->initial && (!target_ || status->initial == target_)) holders |= peer_bit(peer);
    }
    return holders;
}

bool InitialValues::differ(const Status& status) const {
    return said_ && status.initial && *said_ != *status.initial;
}

// ---- taking over

void InitialValues::aim(Time now) {
    if (target_ && holders() != 0) return;
    // Its holders may come back, as long as nobody has others.
    const std::optional<Digest> before = std::exchange(target_, std::nullopt);
    const PeerSet others = holders();
    if (others == 0) {
        target_ = before;
        return;
    }
    target_ = roster_[static_cast<PeerIndex>(std::countr_zero(others))].status->initial;
    held_.assign(blocks_.count(), false);
    lacking_ = blocks_.count();
    puller_.reset();
    moved_at_ = now;
}

std::vector<Puller::Ask> InitialValues::step(Time now) {
    if (!began_at_) began_at_ = moved_at_ = now;
    if (known_) return {};
    aim(now);
    if (!target_) return {};
    // To the puller they are the first of the rows, for it knows no more of them than there are
    // peers.
    Puller::Need need;
    need.lacking = [this](RowIndex, BlockIndex block) -> std::optional<Version> {
        if (held_[block]) return std::nullopt;
        return version;
    };
    need.holders = [this](RowIndex row) { return row == RowIndex(0) ? holders() : PeerSet{0}; };
    std::vector<Puller::Ask> asks = puller_.step(now, need);
    for (Puller::Ask& ask : asks) ask.want.row = initial_row;
    return asks;
}

BlockCheck InitialValues::take(PeerIndex from, const Partial& partial,
                               std::span<const float> values, Time at) {
    Partial as_first_row = partial;
    as_first_row.origin = RowIndex(0);
    puller_.arrived(from, as_first_row, at);
    if (known_ || !target_) return BlockCheck::late;
    const std::size_t first = blocks_.range(partial.run).first;
    for (BlockIndex k = 0; k < partial.run.count; ++k) {
        const BlockIndex block = partial.run.first + k;
        const Range range = blocks_.range(block);
        const std::span<const float> part = values.subspan(range.first - first, range.count);
        const BlockCheck check = Ledger::inspect(part, partial.checksums[k]);
        if (check != BlockCheck::good) return check;
        if (held_[block]) continue;
        std::ranges::copy(part, values_.begin() + static_cast<std::ptrdiff_t>(range.first));
        held_[block] = true;
        --lacking_;
        moved_at_ = at;
    }
    if (lacking_ > 0) return BlockCheck::good;
    const std::optional<Digest> wanted = target_;
    complete();
    if (said_ == wanted) return BlockCheck::good;
    // Who sent them has others now than it had said: all over again.
    known_ = false;
    said_.reset();
    target_.reset();
    lacking_ = blocks_.count();
    return BlockCheck::late;
}

// ---- passing on

HeldBlock InitialValues::block(BlockIndex block) const {
    if (!known_) return {};
    const Range range = blocks_.range(block);
    const std::span<const float> part =
        std::span<const float>(values_).subspan(range.first, range.count);
    return {part, crc32c(part)};
}

}  // namespace ako
