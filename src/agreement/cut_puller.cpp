// See cut_puller.h.
#include "src/agreement/cut_puller.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ako/assert.h"
#include "src/numbers/checksum.h"

namespace ako {

CutPuller::CutPuller(const Ledger& ledger, const Roster& roster, Send send)
    : ledger_(ledger),
      roster_(roster),
      send_(std::move(send)),
      puller_(roster, ledger.blocks().count(), true) {}

// ---- version maps

const CutMap* CutPuller::map_of(CutId cut) const {
    const auto found = maps_.find(cut);
    return found != maps_.end() && found->second.complete() ? &found->second : nullptr;
}

void CutPuller::make_map(CutId cut) {
    CutMap map = CutMap::of(ledger_);
    for (const RowIndex row : ledger_.all()) {
        const std::optional<Version> final_version = roster_[owner_of(row)].final_version();
        for (BlockIndex block = 0; final_version && block < block_count(); ++block) {
            if (holds(row, block, *final_version)) map.set_version(row, block, *final_version);
        }
    }
    maps_.insert_or_assign(cut, std::move(map));
}

void CutPuller::send_map(PeerIndex to, CutId cut) const {
    const CutMap* map = map_of(cut);
    if (map == nullptr) return;
    for (const RowIndex row : ledger_.all()) send_(to, CutRow{cut, row, map->runs(row)});
}

bool CutPuller::take_row(const CutRow& row, Time now) {
    // Only what was asked for: nobody fills this peer's memory with maps that it does not need.
    if (row.cut != pulled_ || map_of(row.cut) != nullptr) return false;
    CutMap& map =
        maps_.try_emplace(row.cut, ledger_.row_count(), ledger_.blocks().count()).first->second;
    if (map.knows(row.row) || !map.set_row(row.row, row.runs)) return false;
    map_asked_at_ = now;  // the rest is on its way
    count_again_ = true;
    return true;
}

void CutPuller::keep_maps(std::initializer_list<CutId> cuts) {
    const std::size_t forgotten = std::erase_if(maps_, [&](const auto& map) {
        return std::find(cuts.begin(), cuts.end(), map.first) == cuts.end();
    });
    if (forgotten == 0) return;
    store_.keep_only([this](RowIndex row, BlockIndex block, Version version) {
        return needed(row, block, version);
    });
    count_again_ = true;
}

bool CutPuller::needed(RowIndex row, BlockIndex block, Version version) const {
    return is_final(row, version) || std::any_of(maps_.begin(), maps_.end(), [&](const auto& map) {
               return map.second.knows(row) && map.second.version(row, block) == version;
           });
}

void CutPuller::ask_for_map(CutId cut, PeerSet holders, Time now) {
    if (map_asked_at_ && now < *map_asked_at_ + roster_.answer_time(map_asked_of_)) return;
    if ((holders & ~map_asked_) == 0) map_asked_ = 0;
    holders &= ~map_asked_;
    if (holders == 0) return;
    const auto holder = static_cast<PeerIndex>(std::countr_zero(holders));
    map_asked_ |= peer_bit(holder);
    map_asked_of_ = holder;
    map_asked_at_ = now;
    send_(holder, WantCut{cut});
}

// ---- blocks

bool CutPuller::holds(RowIndex row, BlockIndex block, Version version) const {
    return ledger_.version(row, block) == version || store_.find(row, block, version) != nullptr;
}

HeldBlock CutPuller::find(RowIndex row, BlockIndex block, Version version) const {
    if (ledger_.version(row, block) == version) {
        return {ledger_.block(row, block), ledger_.checksum(row, block)};
    }
    if (const CutStore::Block* kept = store_.find(row, block, version)) {
        return {kept->values, kept->checksum};
    }
    return {};
}

bool CutPuller::holds_row(RowIndex row, Version version) const {
    for (BlockIndex block = 0; block < block_count(); ++block) {
        if (!holds(row, block, version)) return false;
    }
    return true;
}

bool CutPuller::is_final(RowIndex row, Version version) const {
    return roster_[owner_of(row)].final_version() == version;
}

bool CutPuller::names(CutId cut, RowIndex row, BlockIndex block, Version version) const {
    const CutMap* map = map_of(cut);
    return map != nullptr && map->version(row, block) == version;
}

void CutPuller::put(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
                    std::uint32_t checksum) {
    // An owner that says another last round each time must not fill the memory.
    store_.keep_only_of(row, block, [&](Version kept) { return needed(row, block, kept); });
    store_.put(row, block, version, values, checksum);
    count_again_ = true;
}

// ---- pulling

PeerSet CutPuller::holders_of(CutId cut, PeerSet proposers) const {
    PeerSet whole = proposers | peer_bit(cut.proposer);
    PeerSet parts = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::optional<Status>& status = roster_[peer].status;
        if (!status) continue;
        if (!status->vote.has_vote)
            whole &= ~peer_bit(peer);  // a later life than the one that proposed
        if (status->vote.accepted == cut || status->standing.digest) whole |= peer_bit(peer);
        if (status->vote.decided == cut) parts |= peer_bit(peer);
    }
    // A peer that only knows the decision still pulls the cut, as this one does: a last resort.
    const PeerSet reached = roster_.reached();
    return (whole & reached) != 0 ? whole & reached : parts & reached;
}

bool CutPuller::streams(RowIndex row, Version version) const {
    const PeerIndex owner = owner_of(row);
    const std::optional<Status>& status = roster_[owner].status;
    // Once it knows the decision it streams no more: whoever lacks something asks.
    return roster_.reachable(owner) && status && status->vote.decided.none() &&
           is_final(row, version);
}

void CutPuller::count(const CutMap& map) {
    count_again_ = false;
    lacking_ = PerRow<BlockIndex>(ledger_.row_count());
    lacking_sum_ = 0;
    for (const RowIndex row : ledger_.all()) {
        for (BlockIndex block = 0; block < ledger_.blocks().count(); ++block) {
            const Version version = map.version(row, block);
            if (version == Version{}) make_zeros(row, block);
            lacking_[row] += !holds(row, block, version);
        }
        lacking_sum_ += lacking_[row];
    }
}

void CutPuller::make_zeros(RowIndex row, BlockIndex block) {
    if (holds(row, block, Version{})) return;
    const std::vector<float> zeros(ledger_.blocks().range(block).count);
    store_.put(row, block, Version{}, zeros, crc32c(std::span<const float>(zeros)));
}

bool CutPuller::pull(CutId cut, PeerSet proposers, Time now) {
    if (cut != std::exchange(pulled_, cut)) {
        puller_.reset();
        map_asked_ = 0;
        map_asked_at_.reset();
        lacking_.clear();
        count_again_ = true;
    }
    const PeerSet holders = holders_of(cut, proposers);
    const CutMap* map = map_of(cut);
    if (map == nullptr) {
        ask_for_map(cut, holders, now);
        return false;
    }
    if (count_again_) count(*map);
    if (lacking_sum_ == 0) return true;
    Puller::Need need;
    need.lacking = [&](RowIndex row, BlockIndex block) -> std::optional<Version> {
        const Version version = map->version(row, block);
        if (holds(row, block, version)) return std::nullopt;
        return version;
    };
    need.holders = [&](RowIndex row) { return lacking_[row] > 0 ? holders : PeerSet{0}; };
    need.streams = [&](RowIndex row, Version version) { return streams(row, version); };
    for (Puller::Ask& ask : puller_.step(now, need)) send_(ask.holder, std::move(ask.want));
    return false;
}

void CutPuller::arrived(PeerIndex from, const Partial& partial, Time at) {
    if (!pulled_.none()) puller_.arrived(from, partial, at);
}

std::uint32_t CutPuller::held() const {
    if (lacking_.empty()) return 0;
    return static_cast<std::uint32_t>(ledger_.row_count() * ledger_.blocks().count()) -
           lacking_sum_;
}

void CutPuller::adopt(CutId cut, Ledger& ledger) {
    const CutMap& map = maps_.at(cut);
    for (const RowIndex row : ledger.all()) {
        for (BlockIndex block = 0; block < ledger.blocks().count(); ++block) {
            const Version version = map.version(row, block);
            if (ledger.version(row, block) == version) continue;
            const CutStore::Block* kept = store_.find(row, block, version);
            AKO_ASSERT(kept != nullptr, "a block of the cut is neither here nor there");
            ledger.adopt(row, block, version, kept->values, kept->checksum);
        }
    }
    store_.clear();
}

}  // namespace ako
