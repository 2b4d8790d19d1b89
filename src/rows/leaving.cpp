// See leaving.h.
#include "src/rows/leaving.h"

#include <utility>

namespace ako {

Leaving::Leaving(const Ledger& ledger, const Roster& roster, Time patience, Time limit, Time now)
    : ledger_(ledger),
      roster_(roster),
      patience_(patience),
      limit_(limit),
      began_at_(now),
      others_(roster.peer_count(), Other{{}, now}) {}

std::size_t Leaving::staying(const Roster& roster) {
    std::size_t count = 0;
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        if (peer != roster.self() && stays(roster[peer])) ++count;
    }
    return count;
}

bool Leaving::enough_stay() const { return staying(roster_) >= roster_.peer_count() / 2 + 1; }

bool Leaving::lacks(const RowHeld& theirs, RowIndex row) const {
    const RowHeld mine = ledger_.held(row);
    return theirs.map_checksum != mine.map_checksum && mine.highest > theirs.lowest;
}

bool Leaving::holds_all(const Status& status) const {
    for (const RowIndex row : ledger_.all()) {
        if (gives(row) && lacks(status.rows[row], row)) return false;
    }
    return true;
}

bool Leaving::moves(PeerIndex peer, const Status& status, Time now) {
    std::vector<std::uint32_t> held;
    for (const RowIndex row : ledger_.all()) {
        if (gives(row)) held.push_back(status.rows[row].map_checksum);
    }
    Other& other = others_[peer];
    if (held != other.held) other = {std::move(held), now};
    // It takes in blocks between two rounds, and these may be longer than the patience.
    return now - other.moved_at <= patience_ + roster_.answer_seen(peer);
}

bool Leaving::step(Time now) {
    handed_to_ = 0;
    bool busy = false;
    bool may_come = false;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const PeerView& view = roster_[peer];
        if (peer == roster_.self() || !stays(view)) continue;
        // In a new session it may be another process, which holds nothing of what the last one did.
        if (!roster_.reachable(peer) || !view.heard) {
            may_come = true;
        } else if (holds_all(*view.status)) {
            handed_to_ |= peer_bit(peer);
        } else {
            busy = moves(peer, *view.status, now) || busy;
        }
    }
    if (now - began_at_ >= limit_) return true;
    if (!enough_stay() && now - began_at_ < patience_) return false;
    // A peer without a session now gets it later from one that holds all of it.
    return !busy && (handed_to_ != 0 || !may_come);
}

}  // namespace ako
