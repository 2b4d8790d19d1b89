// See attendance.h.
#include "src/rows/attendance.h"

#include <algorithm>

namespace ako {

void Attendance::begin(Time now) {
    for (PeerIndex peer = 0; peer < seen_.size(); ++peer) {
        seen_[peer] = {};
        seen_[peer].rounds = roster_[peer].known_round();
        seen_[peer].then = now;
        seen_[peer].own_round_then = roster_[roster_.self()].known_round();
    }
    for (PeerIndex peer = 0; peer < seen_.size(); ++peer) {
        seen_[peer].others_then = rounds_of_others(peer);
        seen_[peer].takes_part = judge(peer, now);
    }
}

std::vector<Attendance::Return> Attendance::look(Time now) {
    std::vector<Return> returns;
    const Round own_round = roster_[roster_.self()].known_round();
    seen_[roster_.self()].rounds = own_round;
    for (const PeerIndex peer : newest_first()) {
        Seen& seen = seen_[peer];
        const Round known = roster_[peer].known_round();
        if (known > seen.rounds) {
            // Those of the peers before it in this loop count as made here: that is what makes the
            // shares of several returns come to the right one, whatever their order.
            const Round there = known - seen.rounds;
            const Round here = rounds_of_others(peer) - seen.others_then;
            const double share = static_cast<double>(there) / static_cast<double>(there + here);
            if (!seen.takes_part) returns.push_back({peer, seen.rounds, there, share});
            seen = {known, true, own_round, now, rounds_of_others(peer), true};
        }
        seen.takes_part = judge(peer, now);
    }
    return returns;
}

std::vector<PeerIndex> Attendance::newest_first() const {
    std::vector<PeerIndex> others;
    for (PeerIndex peer = 0; peer < seen_.size(); ++peer) {
        if (peer != roster_.self()) others.push_back(peer);
    }
    std::stable_sort(others.begin(), others.end(), [this](PeerIndex one, PeerIndex other) {
        return seen_[one].own_round_then > seen_[other].own_round_then;
    });
    return others;
}

Round Attendance::rounds_of_others(PeerIndex peer) const {
    Round sum = 0;
    for (PeerIndex other = 0; other < seen_.size(); ++other) {
        if (other != peer) sum += seen_[other].rounds;
    }
    return sum;
}

bool Attendance::judge(PeerIndex peer, Time now) const {
    if (peer == roster_.self()) return true;
    const PeerView& view = roster_[peer];
    const Seen& seen = seen_[peer];
    const Round own_round = roster_[roster_.self()].known_round();
    if (view.presence == Presence::left || view.presence == Presence::gone) return false;
    if (roster_.advancing(peer, own_round)) return true;
    if (!view.live() && !seen.moved) return false;
    const auto own_rounds = static_cast<double>(own_round - seen.own_round_then);
    return now - seen.then <= patience_ || own_rounds <= Roster::gap_min;
}

double Attendance::scale() const {
    std::size_t there = 1;
    for (PeerIndex peer = 0; peer < seen_.size(); ++peer) {
        if (peer != roster_.self() && seen_[peer].takes_part) ++there;
    }
    return static_cast<double>(seen_.size()) / static_cast<double>(there);
}

}  // namespace ako
