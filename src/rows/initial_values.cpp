// See initial_values.h.
#include "src/rows/initial_values.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "src/numbers/checksum.h"
#include "src/numbers/digest.h"
#include "src/numbers/finite.h"

namespace ako {

InitialValues::InitialValues(std::span<float> values, const Blocks& blocks, const Roster& roster,
                             bool of_lowest)
    : values_(values),
      blocks_(blocks),
      roster_(roster),
      known_(!of_lowest),
      puller_(roster, blocks.count(), true),
      lacking_(of_lowest ? blocks.count() : 0) {}

void InitialValues::complete() {
    const std::span<const float> values = values_;
    known_ = true;
    lacking_ = 0;
    said_ = sha256(std::as_bytes(values));
    checksums_.clear();
    for (BlockIndex block = 0; block < blocks_.count(); ++block) {
        const Range range = blocks_.range(block);
        checksums_.push_back(crc32c(values.subspan(range.first, range.count)));
    }
}

void InitialValues::forget() {
    known_ = false;
    said_.reset();
    held_.assign(blocks_.count(), false);
    lacking_ = blocks_.count();
    puller_.reset();
}

PeerSet InitialValues::holders() const {
    PeerSet holders = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::optional<Status>& status = roster_[peer].status;
        if (peer == roster_.self() || !roster_.reachable(peer) || !status) continue;
        if (status->start.initial && (!target_ || status->start.initial == target_))
            holders |= peer_bit(peer);
    }
    return holders;
}

bool InitialValues::differ(const Status& status) const {
    return said_ && status.start.initial && *said_ != *status.start.initial;
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
    target_ = roster_[static_cast<PeerIndex>(std::countr_zero(others))].status->start.initial;
    forget();
    if (!again_) moved_at_ = now;
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
    if (known_ || !target_ || (holders() & peer_bit(from)) == 0) return BlockCheck::late;
    Partial as_first_row = partial;
    as_first_row.origin = RowIndex(0);
    puller_.arrived(from, as_first_row, at);
    const std::size_t first = blocks_.range(partial.run).first;
    for (BlockIndex k = 0; k < partial.run.count; ++k) {
        const BlockIndex block = partial.run.first + k;
        const Range range = blocks_.range(block);
        const std::span<const float> part = values.subspan(range.first - first, range.count);
        if (crc32c(part) != partial.checksums[k]) return BlockCheck::damaged;
        if (!all_finite(part)) return BlockCheck::diverged;  // large they may be, unlike a row
        if (held_[block]) continue;
        std::ranges::copy(part, values_.begin() + static_cast<std::ptrdiff_t>(range.first));
        held_[block] = true;
        --lacking_;
        if (!again_) moved_at_ = at;
    }
    if (lacking_ > 0) return BlockCheck::good;
    complete();
    if (said_ == target_) return BlockCheck::good;
    forget();
    again_ = true;
    return BlockCheck::diverged;
}

void InitialValues::lacks(PeerIndex from, const Lack& lack, Time now) {
    Lack as_first_row = lack;
    as_first_row.row = RowIndex(0);
    puller_.lacks(from, as_first_row, now);
}

// ---- passing on

HeldBlock InitialValues::block(BlockIndex block) const {
    if (!said_) return {};
    const Range range = blocks_.range(block);
    return {std::span<const float>(values_).subspan(range.first, range.count), checksums_[block]};
}

}  // namespace ako
