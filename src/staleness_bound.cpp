// See staleness_bound.h.
#include "src/staleness_bound.h"

#include <algorithm>
#include <utility>

namespace ako {

StalenessBound::Mark StalenessBound::mark_of(PeerIndex peer) const {
    const PeerView& view = membership_[peer];
    Mark mark{view.announced, ledger_.held(peer), {}};
    if (view.status) mark.held_there = view.status->rows[membership_.self()];
    return mark;
}

bool StalenessBound::within(const Mark& mark) const {
    const Round next = membership_[membership_.self()].announced + 1;
    return mark.announced <= mark.held_here.lowest.round + rounds_max_ &&
           next <= mark.held_there.lowest.round + rounds_max_;
}

bool StalenessBound::must_wait(Time now) {
    if (!active()) return false;
    bool wait = false;
    for (PeerIndex peer = 0; peer < others_.size(); ++peer) {
        const PeerView& view = membership_[peer];
        if (peer == membership_.self() || !view.live() || view.final_round) continue;
        Other& other = others_[peer];
        const Mark mark = mark_of(peer);
        if (mark != other.mark) other = {mark, now, false, false};
        if (within(mark)) continue;
        const Time still_since = std::max(other.moved_at, waiting_since_.value_or(now));
        other.given_up = other.given_up || now - still_since >= patience_;
        wait = wait || !other.given_up;
    }
    if (!wait) {
        waiting_since_.reset();
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
