// When the others went: tells a peer that loses others, and goes on without them, from one that was
// left behind, because it stood still or was cut off while the others ended. The rule: none of
// those it has met is there, nobody listens at the address of any of them, and they went together:
// over a pause of this process or, of several, within one life time-out and in silence or with a
// Bye. What then would be trained, would be trained by nobody else. A peer whose connection breaks
// has crashed, however many do at once. A single other peer that is lost without a pause is a loss,
// and so are several that go one by one: then the rest of the run is this peer's. A peer that said
// with its Bye that the run goes on without it has ended nothing, and says nothing of the others.
//
// It also tells which peers are *gone*, so that nobody need wait for them: those that left, and
// those that have no session while nobody listens at their address. That must last, because a peer
// that only we cannot dial comes back by dialling us. A peer whose connection broke does so as soon
// as it knows; if the news of the break has not reached it, it knows by our silence. A peer that
// fell silent may be cut off, and is given longer.
//
// Network thread only.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "ako/types.h"

namespace ako {

class Departures {
  public:
    /// A dial whose first packet was lost: the system sends it again after a second.
    static constexpr Time redial = std::chrono::seconds(1);

    /// `life_timeout`: what is within it, happened together; a longer silence of this process is a
    /// pause. A peer is gone if nobody has listened at its address for `grace`; where its
    /// connection broke `gone_after_crash` is enough, but not to be taken as left behind.
    Departures(std::size_t peer_count, Time life_timeout, Time grace)
        : together_(life_timeout), grace_(grace), peers_(peer_count) {}

    /// Called all the time, at least every 20 ms.
    void look(Time now) {
        if (looked_at_ && now - *looked_at_ > together_) paused_until_ = now;
        looked_at_ = now;
    }
    void came(PeerIndex peer) {
        peers_[peer] = {};
        peers_[peer].met = true;
    }
    /// It said, with its Bye, that the run goes on without it.
    void left_early(PeerIndex peer) { peers_[peer].early = true; }
    /// Its session ended; `left`: it has said Bye; `silence`: so long after its last byte.
    void went(PeerIndex peer, bool left, Time silence, Time now) {
        peers_[peer].went_at = now;
        peers_[peer].left = left;
        peers_[peer].broke = !left && silence < together_;
    }
    /// How the newest dial ended, while there is no session.
    void dialled(PeerIndex peer, bool nobody_listens, Time now) {
        Peer& it = peers_[peer];
        if (!it.went_at || !nobody_listens) {
            it.silent_since.reset();
        } else if (!it.silent_since) {
            it.silent_since = now;
        }
    }

    /// It was there, has no session, and left, or nobody has listened at its address for so long
    /// that it does not come back.
    bool gone(PeerIndex peer, Time now) const {
        return gone_for(peers_[peer].broke ? gone_after_crash() : grace_, peer, now);
    }

    /// A life time-out until the other end misses us; as long again and `redial`, until its session
    /// stands.
    Time gone_after_crash() const { return std::min(2 * together_ + redial, grace_); }

    bool left_behind(Time now) const {
        Time last{0};
        for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
            if (!peers_[peer].met || peers_[peer].early) continue;
            if (!gone_for(grace_, peer, now)) return false;
            last = std::max(last, *peers_[peer].went_at);
        }
        // Whoever was lost long before the last ones went says nothing of how those went.
        Time first = last;
        std::size_t count = 0;
        bool broke = false;
        for (const Peer& it : peers_) {
            if (!it.met || it.early || *it.went_at < last - together_) continue;
            first = std::min(first, *it.went_at);
            broke = broke || it.broke;
            ++count;
        }
        const bool over_a_pause = paused_until_ && first >= *paused_until_ - together_ &&
                                  last <= *paused_until_ + 2 * together_;
        return count > 0 && (over_a_pause || (count > 1 && !broke));
    }

  private:
    struct Peer {
        bool met = false;
        std::optional<Time> went_at;       ///< nothing while a session stands
        std::optional<Time> silent_since;  ///< nobody listens
        bool left = false;
        bool early = false;  ///< it left before the end
        bool broke = false;  ///< the session ended without a Bye, and not by silence
    };

    bool gone_for(Time grace, PeerIndex peer, Time now) const {
        const Peer& it = peers_[peer];
        return it.went_at && (it.left || (it.silent_since && now - *it.silent_since >= grace));
    }

    const Time together_;
    const Time grace_;
    std::vector<Peer> peers_;  ///< [peer_count]
    std::optional<Time> looked_at_;
    std::optional<Time> paused_until_;
};

}  // namespace ako
