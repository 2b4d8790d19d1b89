// See joining.h.
#include "src/rows/joining.h"

#include <algorithm>
#include <utility>

#include "src/exchange/incarnation.h"

namespace ako {

Joining::Joining(const Ledger& ledger, const Roster& roster, Send send, Times times)
    : ledger_(ledger),
      roster_(roster),
      send_(std::move(send)),
      times_(times),
      puller_(roster, ledger.blocks().count(), false),
      sources_(ledger.row_count()),
      target_(ledger.row_count()),
      begun_(ledger.row_count()),
      lacking_(ledger.row_count()) {}

void Joining::begin(Time now) {
    began_at_ = moved_at_ = now;
    for (Source& source : sources_) source = {};
    puller_.reset();
    aside_.clear();
    aim_again_ = true;
}

// ---- what others hold

bool Joining::Source::complete() const {
    return !rows.empty() &&
           std::none_of(rows.begin(), rows.end(), [](const auto& runs) { return runs.empty(); });
}

void Joining::begin_session(PeerIndex peer, bool new_process, Time now) {
    puller_.forget_asked(peer);
    Source& source = sources_[peer];
    source.asked_at.reset();
    if (new_process) source.rows.clear();  // what the earlier one held went with it
    aim_again_ = true;
    ++source.sessions;
    if (source.puts_off()) moved_at_ = now;
}

void Joining::heard(PeerIndex from, const Versions& versions, Time now) {
    Source& source = sources_[from];
    if (!source.asked_at || source.complete()) return;  // not asked for
    if (source.rows.empty()) source.rows.resize(ledger_.row_count());
    if (source.rows[versions.row].empty() && source.puts_off()) moved_at_ = now;
    source.rows[versions.row] = versions.runs;
    if (versions.row == ledger_.own()) {
        for (const VersionRun& run : versions.runs) heard_of(run.version.incarnation);
    }
    aim_again_ = true;
}

PeerSet Joining::silent() const {
    PeerSet silent = 0;
    for (PeerIndex peer = 0; peer < sources_.size(); ++peer) {
        if (peer == roster_.self() || !roster_.reachable(peer)) continue;
        if (!roster_[peer].heard || !sources_[peer].complete()) silent |= peer_bit(peer);
    }
    return silent;
}

bool Joining::informed() const { return roster_.reached() != 0 && silent() == 0; }

bool Joining::met(Time now) const {
    if (now - began_at_ >= times_.meet) return true;
    PeerSet theirs = 0;
    for (PeerIndex peer = 0; peer < sources_.size(); ++peer) {
        if (roster_.reachable(peer) && roster_[peer].heard)
            theirs |= roster_[peer].status->heartbeat.reached;
    }
    if ((theirs & ~roster_.reached() & ~peer_bit(roster_.self())) != 0) return false;
    return !holders_may_come();
}

bool Joining::holders_may_come() const {
    const bool lacks_own = ledger_.held(ledger_.own()).highest == Version{};
    if (lacks_own && roster_[roster_.self()].relayed_round > 0) return true;
    for (PeerIndex peer = 0; peer < sources_.size(); ++peer) {
        if (peer != roster_.self() && roster_[peer].presence == Presence::down) return true;
    }
    return false;
}

// Whoever is down or lost may come back, with what only it holds.
bool Joining::nobody_comes() const {
    for (PeerIndex peer = 0; peer < sources_.size(); ++peer) {
        const Presence presence = roster_[peer].presence;
        if (peer == roster_.self()) continue;
        // One that was not met, and of whose rounds somebody told, goes on elsewhere.
        if (presence == Presence::absent && roster_[peer].known_round() == 0) continue;
        if (presence != Presence::left && presence != Presence::gone) return false;
    }
    return true;
}

void Joining::look() {
    for (PeerIndex peer = 0; peer < sources_.size(); ++peer) {
        const bool live = peer != roster_.self() && roster_[peer].live();
        if (std::exchange(sources_[peer].counts, live) != live) aim_again_ = true;
    }
}

void Joining::ask_for_versions(Time now) {
    for (PeerIndex peer = 0; peer < sources_.size(); ++peer) {
        Source& source = sources_[peer];
        if (peer == roster_.self() || !roster_.reachable(peer) || source.complete()) continue;
        if (source.asked_at && now < *source.asked_at + roster_.answer_time(peer)) continue;
        source.asked_at = now;
        send_(peer, WantVersions{});
    }
}

// ---- what is to come

bool Joining::is_aside(Incarnation incarnation) const {
    return std::find(aside_.begin(), aside_.end(), incarnation) != aside_.end();
}

Incarnation Joining::begun(RowIndex row) const {
    if (const Incarnation held = ledger_.begun(row)) return held;
    Incarnation begun = 0;
    for (const Source& source : sources_) {
        if (!source.counts || source.rows.empty()) continue;
        for (const VersionRun& run : source.rows[row]) {
            const Incarnation one = run.version.incarnation;
            if (begins(one) && !(row == ledger_.own() && is_aside(one)))
                begun = std::max(begun, one);
        }
    }
    return begun;
}

bool Joining::may_take(RowIndex row, Incarnation incarnation, Incarnation begun) const {
    if (!begins(incarnation)) return true;
    return incarnation == begun && !(row == ledger_.own() && is_aside(incarnation));
}

void Joining::aim(RowIndex row) {
    std::vector<Version>& target = target_[row];
    target.assign(ledger_.blocks().count(), Version{});
    begun_[row] = begun(row);
    for (const Source& source : sources_) {
        if (!source.counts || source.rows.empty()) continue;
        BlockIndex block = 0;
        for (const VersionRun& run : source.rows[row]) {
            const bool takes = may_take(row, run.version.incarnation, begun_[row]);
            for (BlockIndex end = block + run.count; block < end; ++block) {
                if (takes) target[block] = std::max(target[block], run.version);
            }
        }
    }
}

void Joining::aim() {
    aim_again_ = false;
    count_again_ = true;
    lacking_sum_ = 0;  // who went, with what only it held, has brought nothing nearer
    for (const RowIndex row : ledger_.all()) aim(row);
}

void Joining::count(Time now) {
    count_again_ = false;
    const std::size_t before = std::exchange(lacking_sum_, 0);
    for (const RowIndex row : ledger_.all()) {
        if (begun(row) != begun_[row]) aim(row);
        lacking_[row] = 0;
        for (BlockIndex block = 0; block < ledger_.blocks().count(); ++block) {
            lacking_[row] += ledger_.version(row, block) < target_[row][block];
        }
        lacking_sum_ += lacking_[row];
    }
    if (lacking_sum_ < before) moved_at_ = now;
}

PeerSet Joining::holders(RowIndex row) const {
    PeerSet holders = 0;
    if (lacking_[row] == 0) return holders;
    const Version lowest = ledger_.held(row).lowest;
    for (PeerIndex peer = 0; peer < sources_.size(); ++peer) {
        if (peer == roster_.self() || !roster_.reachable(peer) || !roster_[peer].heard) continue;
        const Version highest = roster_[peer].status->rows[row].highest;
        if (highest > lowest && may_take(row, highest.incarnation, begun_[row]))
            holders |= peer_bit(peer);
    }
    return holders;
}

void Joining::pull(Time now) {
    if (lacking_sum_ == 0) return;
    Puller::Need need;
    need.lacking = [&](RowIndex row, BlockIndex block) -> std::optional<Version> {
        const Version held = ledger_.version(row, block);
        const Version target = target_[row][block];
        if (held >= target) return std::nullopt;
        // Newer than the last that would not do; there is no version of round 0.
        return target.round > 1 ? Version{target.incarnation, target.round - 1} : held;
    };
    need.holders = [&](RowIndex row) { return holders(row); };
    need.streams = [&](RowIndex row, Version version) {
        return row != ledger_.own() && roster_.streams(owner_of(row), version);
    };
    for (Puller::Ask& ask : puller_.step(now, need)) send_(ask.holder, std::move(ask.want));
}

// ---- how long

bool Joining::step(Time now) {
    look();
    ask_for_versions(now);
    if (aim_again_) aim();
    if (count_again_) count(now);
    pull(now);
    if (now - moved_at_ > times_.timeout) return true;
    if (nobody_comes()) return true;
    return informed() && met(now) && lacking_sum_ == 0;
}

bool Joining::another() const {
    const RowIndex own = ledger_.own();
    // Nothing came of the one that was to come first: there is nothing to put aside.
    if (ledger_.begun(own) == 0) return false;
    for (const Source& source : sources_) {
        if (!source.counts || source.rows.empty()) continue;
        BlockIndex block = 0;
        for (const VersionRun& run : source.rows[own]) {
            const Incarnation one = run.version.incarnation;
            const bool apart = begins(one) && one != ledger_.begun(own) && !is_aside(one);
            for (BlockIndex end = block + run.count; block < end; ++block) {
                // A block of a later life holds what was begun before it.
                if (apart && lives_before(target_[own][block].incarnation) == 0) return true;
            }
        }
    }
    return false;
}

std::vector<BlockIndex> Joining::to_add() const {
    std::vector<BlockIndex> blocks;
    for (BlockIndex block = 0; block < ledger_.blocks().count(); ++block) {
        if (begins(ledger_.version(ledger_.own(), block).incarnation)) blocks.push_back(block);
    }
    return blocks;
}

void Joining::put_aside(Time now) {
    aside_.push_back(begun_[ledger_.own()]);
    moved_at_ = now;
    aim_again_ = true;
}

}  // namespace ako
