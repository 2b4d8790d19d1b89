// See ako_stop.h.
#include "src/modes/ako_stop.h"

namespace ako {

void AkoStop::hear(StopReason reason, PeerSet asked) {
    // What the training came to by itself outweighs what was asked for, whoever hears of it first.
    const bool may_change = reason_ == StopReason::none || reason_ == StopReason::requested;
    if (may_change && reason != StopReason::none) reason_ = reason;
    if (reason == StopReason::requested) asked_ |= asked;
}

std::vector<PeerIndex> AkoStop::asked_for_it() const {
    std::vector<PeerIndex> peers;
    if (reason_ != StopReason::requested) return peers;
    for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer) {
        if (asked_ & peer_bit(peer)) peers.push_back(peer);
    }
    return peers;
}

Next AkoStop::next() const {
    if (reason_ != StopReason::requested) return Next::finish(sentence(reason_));
    std::vector<std::string> names;
    for (const PeerIndex peer : asked_for_it()) names.push_back(settings_.peer_names[peer]);
    const std::string why = sentence(reason_) + (": " + asked_text(names));
    if (!(asked_ & peer_bit(settings_.self))) settings_.log(why);
    return Next::finish(why);
}

}  // namespace ako
