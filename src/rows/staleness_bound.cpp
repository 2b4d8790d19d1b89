// See staleness_bound.h.
#include "src/rows/staleness_bound.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ako {

StalenessBound::Mark StalenessBound::mark_of(PeerIndex peer) const {
    const PeerView& view = roster_[peer];
    Mark mark{view.announced, ledger_.held(row_of(peer)), {}};
    if (!view.status) return mark;
    for (const RowIndex row : ledger_.all())
        mark.held_there = 31 * mark.held_there + view.status->rows[row].map_checksum;
    return mark;
}

bool StalenessBound::lacks_rounds(PeerIndex peer, const Waits& waits) const {
    const PeerIndex self = roster_.self();
    const auto next = static_cast<std::int64_t>(roster_[self].announced) + 1;
    const auto held = static_cast<std::int64_t>(others_[peer].mark.held_here.lowest.round);
    return next > held + waits.offset(self, peer) + waits.rounds_max;
}

bool StalenessBound::in_step(const Waits& waits, const Roster& roster, PeerIndex peer) {
    const PeerView& view = roster[peer];
    const PeerIndex self = roster.self();
    if (peer == self || !roster.reachable(peer) || view.final_round || view.joins()) return false;
    if (!waits.between(self, peer)) return false;
    const auto behind = static_cast<std::int64_t>(roster[self].announced - view.announced) -
                        waits.offset(self, peer);
    return std::abs(behind) <= 2 * std::int64_t{waits.rounds_max} + slack;
}

Time StalenessBound::patience_with(const Other& other) const {
    return std::clamp(4 * std::max(own_round_, other.gap), patience_, patience_max);
}

void StalenessBound::look(Other& other, const Mark& mark, Time now) {
    if (mark == other.mark) return;
    if (mark.announced > other.mark.announced) {
        if (other.in_step && other.mark.announced > 0) other.gap = now - other.announced_at;
        other.announced_at = now;
    }
    other.mark = mark;
    other.moved_at = now;
    other.given_up = false;
    other.told = false;
}

void StalenessBound::measure_own_round(Time now) {
    const Round round = roster_[roster_.self()].announced;
    if (round > round_before_) own_round_ = now - *round_began_;
    round_before_ = round;
    round_began_.reset();
}

bool StalenessBound::must_wait(const Waits& waits, Time now) {
    if (round_began_) measure_own_round(now);
    bool wait = false;
    for (PeerIndex peer = 0; peer < others_.size(); ++peer) {
        Other& other = others_[peer];
        if (!in_step(waits, roster_, peer)) {
            other.in_step = false;
            other.gap = {};
            continue;
        }
        look(other, mark_of(peer), now);
        other.in_step = true;
        if (!lacks_rounds(peer, waits)) continue;
        const Time still_since = std::max(other.moved_at, waiting_since_.value_or(now));
        other.given_up = other.given_up || now - still_since >= patience_with(other);
        wait = wait || !other.given_up;
    }
    if (!wait) {
        waiting_since_.reset();
        round_began_ = now;
    } else if (!waiting_since_) {
        waiting_since_ = now;
    }
    return wait;
}

std::vector<PeerIndex> StalenessBound::take_given_up() {
    std::vector<PeerIndex> peers;
    for (PeerIndex peer = 0; peer < others_.size(); ++peer) {
        if (others_[peer].given_up && !std::exchange(others_[peer].told, true)) {
            peers.push_back(peer);
        }
    }
    return peers;
}

}  // namespace ako
