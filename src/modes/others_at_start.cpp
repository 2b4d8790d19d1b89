// See others_at_start.h.
#include "src/modes/others_at_start.h"

#include <algorithm>

#include "src/exchange/common_start.h"

namespace ako {

// ---- what they say

void OthersAtStart::heard_first(PeerIndex from, const Status& status) {
    met_at_zero_ &= ~peer_bit(from);
    if (!has_made(status, from)) met_at_zero_ |= peer_bit(from);
}

void OthersAtStart::heard_start(PeerIndex from, const Status& status) {
    const auto set = [bit = peer_bit(from)](PeerSet& peers, bool is_in) {
        peers = is_in ? peers | bit : peers & ~bit;
    };
    const bool waits = begins_anew(status, from);
    set(resuming_, status.start.resuming);
    set(anew_, waits);
    set(have_from_, status.start.resuming && !status.start.checkpoints.empty());
    if (waits && status.heartbeat.process_id != 0)
        lowest_process_ = std::min(lowest_process_, status.heartbeat.process_id);
}

void OthersAtStart::heard_of_run(PeerIndex from, const Status& status) {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if ((met_at_zero_ & peer_bit(peer)) != 0 || !has_made(status, peer)) continue;
        if (peer == from || peer == settings_.self)
            run_there_ = true;
        else
            told_of_ |= peer_bit(peer);
    }
}

// ---- what follows

bool OthersAtStart::awaits_own_word() const {
    if (run_there_) return false;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        // A peer that cannot be reached has no word to say.
        const bool told_of = (told_of_ & peer_bit(peer)) != 0;
        if (told_of && roster_.reachable(peer) && !roster_[peer].heard) return true;
    }
    return false;
}

bool OthersAtStart::train() const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const PeerView& view = roster_[peer];
        if (!view.heard || !roster_.reachable(peer) || view.joins()) continue;
        if (has_made(*view.status, peer)) return true;
    }
    return false;
}

bool OthersAtStart::heard_all() const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer != roster_.self() && roster_.reachable(peer) && !roster_[peer].heard) return false;
    }
    return true;
}

bool OthersAtStart::all_have_sessions() const {
    const PeerSet here = roster_.reached() | peer_bit(roster_.self());
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const PeerView& view = roster_[peer];
        if (peer == roster_.self() || !roster_.reachable(peer) || !view.status) continue;
        if ((here & ~view.status->heartbeat.reached & ~peer_bit(peer)) != 0) return false;
    }
    return true;
}

bool OthersAtStart::met_all() const {
    const PeerSet met = resuming_ | anew_ | peer_bit(roster_.self());
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if ((met & peer_bit(peer)) == 0) return false;
    }
    return true;
}

PeerSet OthersAtStart::absent() const {
    PeerSet absent = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == roster_.self()) continue;
        // One that came and went without a word may have been refused.
        if (!roster_[peer].live() || !roster_[peer].status) absent |= peer_bit(peer);
    }
    return absent;
}

std::string OthersAtStart::why_apart() const {
    const PeerSet self = peer_bit(roster_.self());
    const PeerSet going_on = resuming_ | (goes_on() ? self : 0);
    const PeerSet anew = anew_ | (goes_on() ? 0 : self);
    if (going_on == 0) return "";
    // Who is to go on if anybody does hears of it presently, and the others are as this peer is.
    if (anew != 0 && !settings_.resumes_if_any) return mixed_start_text(settings_, going_on, anew);
    if (have_from_ != 0) return "";
    return "none of " + settings_.names(going_on) +
           " has a checkpoint to go on from: begin anew, without --resume, or from a saved model "
           "with --set model.initial=FILE";
}

}  // namespace ako
