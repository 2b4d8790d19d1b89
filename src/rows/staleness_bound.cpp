// See staleness_bound.h.
#include "src/rows/staleness_bound.h"

#include <algorithm>
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

bool StalenessBound::within(const Other& other) const {
    const auto next = static_cast<std::int64_t>(roster_[roster_.self()].announced) + 1;
    const auto held = static_cast<std::int64_t>(other.mark.held_here.lowest.round);
    return next <= held + *other.behind + rounds_max_;
}

void StalenessBound::count_from(Other& other) const {
    const auto behind = static_cast<std::int64_t>(roster_[roster_.self()].announced) -
                        static_cast<std::int64_t>(other.mark.announced);
    // One that has caught up, or been caught up with, counts as all others do.
    if (!other.behind)
        other.behind = behind;
    else if (*other.behind > 0 ? behind <= 0 : behind >= 0)
        other.behind = 0;
}

Time StalenessBound::patience_with(const Other& other) const {
    return std::clamp(4 * std::max(own_round_, other.gap), patience_, patience_max);
}

void StalenessBound::look(Other& other, const Mark& mark, Time now) {
    if (mark == other.mark) return;
    if (mark.announced > other.mark.announced) {
        if (other.mark.announced > 0) other.gap = now - other.announced_at;
        other.announced_at = now;
    }
    other.mark = mark;
    other.moved_at = now;
    if (std::exchange(other.given_up, false)) other.behind.reset();
    other.told = false;
}

void StalenessBound::measure_own_round(Time now) {
    const Round round = roster_[roster_.self()].announced;
    if (round > round_before_) own_round_ = now - *round_began_;
    round_before_ = round;
    round_began_.reset();
}

bool StalenessBound::must_wait(Time now) {
    if (!active()) return false;
    if (round_began_) measure_own_round(now);
    bool wait = false;
    for (PeerIndex peer = 0; peer < others_.size(); ++peer) {
        const PeerView& view = roster_[peer];
        Other& other = others_[peer];
        if (peer == roster_.self() || !view.live() || view.final_round || view.joins()) {
            other.behind.reset();
            continue;
        }
        look(other, mark_of(peer), now);
        count_from(other);
        if (within(other)) continue;
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
