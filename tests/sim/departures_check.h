// What a peer makes of it that others are not there any more (src/exchange/departures.h), judged by
// what really became of them: only a process that is over may be taken for gone, and left behind is
// only who has met nobody that goes on.
#pragma once

#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/ako_peer.h"
#include "tests/sim/coverage.h"
#include "tests/sim/violation.h"

namespace ako::sim {

class DeparturesCheck {
  public:
    /// Both outlive this.
    DeparturesCheck(const SimCluster& cluster, std::size_t peer_count, Coverage& coverage)
        : peers_(cluster), coverage_(coverage), gone_(peer_count, 0) {}

    /// Another process is about to begin under its name, where the first may be held for gone, or
    /// where nobody looks for it.
    void begins_anew(PeerIndex peer) {
        begun_anew_ |= peer_bit(peer);
        gone_[peer] = 0;
    }

    /// `peer` has taken in what had arrived.
    void drained(PeerIndex peer) {
        PeerSet now = 0;
        for (PeerIndex other = 0; other < peers_.size(); ++other) {
            if (presence(peer, other) != Presence::gone) continue;
            now |= peer_bit(other);
            if (peers_[other]->over() || (begun_anew_ & peer_bit(other))) continue;
            throw Violation("peer " + std::to_string(peer) + " takes peer " +
                            std::to_string(other) + " for gone, whose process runs");
        }
        const PeerSet before = std::exchange(gone_[peer], now);
        coverage_.saw(Event::gone, static_cast<std::uint64_t>(std::popcount(now & ~before)));
    }

    /// `peer` has heard that training is over; `why`, as Next says it.
    void stopped(PeerIndex peer, const std::string& why) const {
        if (!why.starts_with("the others ended")) return;
        coverage_.saw(Event::left_behind);
        for (PeerIndex other = 0; other < peers_.size(); ++other) {
            const bool met = presence(peer, other) != Presence::absent;
            // The report comes with the goodbye, the end after it.
            const bool went = peers_[other]->over() || peers_[other]->report;
            if (other == peer || (begun_anew_ & peer_bit(other)) || !met || went) continue;
            throw Violation("peer " + std::to_string(peer) + " is left behind, and peer " +
                            std::to_string(other) + " goes on");
        }
    }

  private:
    Presence presence(PeerIndex at, PeerIndex peer) const {
        return (*peers_[at]->half.peers())[peer].presence;
    }

    const AkoPeers peers_;
    Coverage& coverage_;
    std::vector<PeerSet> gone_;  ///< [peer]: whom it took for gone when last looked at
    PeerSet begun_anew_ = 0;     ///< another process began under its name
};

}  // namespace ako::sim
