// See staleness_bound.h.
#include "src/rows/staleness_bound.h"

#include <algorithm>
#include <utility>

namespace ako {

StalenessBound::Mark StalenessBound::mark_of(PeerIndex peer) const {
    const PeerView& view = roster_[peer];
    Mark mark{view.announced, ledger_.held(row_of(peer)), {}};
    if (view.status) mark.held_there = view.status->rows[ledger_.own()];
    return mark;
}

bool StalenessBound::within(const Mark& mark) const {
    const Round next = roster_[roster_.self()].announced + 1;
    return mark.announced <= mark.held_here.lowest.round + rounds_max_ &&
           next <= mark.held_there.lowest.round + rounds_max_;
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
    other.given_up = other.told = false;
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
        if (peer == roster_.self() || !view.live() || view.final_round || view.joins()) continue;
        Other& other = others_[peer];
        const Mark mark = mark_of(peer);
        look(other, mark, now);
        if (within(mark)) continue;
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
