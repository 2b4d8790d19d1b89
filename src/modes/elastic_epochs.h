// When the members of an elastic ring must agree on another epoch, who is to be in it, and whose
// turn it is to propose that. The agreement is EpochVote's business.
//
// An epoch ends when
//  - a session between two members has ended, for a frame may be lost with it;
//  - a member is gone: its process is over, it left, or it was silent for the life time-out;
//  - a newcomer has had nothing of the state for the life time-out;
//  - a member hangs: all have waited for it for three quarters of the finish time-out;
//  - a process asks to come in.
// A member that can be reached again before it is lost stays in. The lowest member that is there
// proposes; the next ones wait their turns, longer each time that a proposal fails. Where two
// members do not hear each other for the life time-out the higher one is left out.
//
// Network thread only. Lives as long as the traffic half.
#pragma once

#include <optional>

#include "ako/threads.h"
#include "src/modes/elastic_beginning.h"
#include "src/modes/elastic_pace.h"
#include "src/modes/elastic_parts.h"

namespace ako {

class ElasticEpochs {
  public:
    /// All outlive this.
    ElasticEpochs(ElasticParts& parts, const ElasticPace& pace, const ElasticBeginning& beginning);

    // ---- what happens
    void session_down(PeerIndex peer) AKO_NETWORK_THREAD;
    void epoch_changed() AKO_NETWORK_THREAD;
    /// This peer's last round is made: it takes nobody in any more.
    void set_finishing(bool finishing) AKO_NETWORK_THREAD { finishing_ = finishing; }
    /// Proposes another epoch, if there is to be one and it is this peer's turn. True if it did.
    bool propose(Time now) AKO_NETWORK_THREAD;

    // ---- what is so
    /// A session of this peer with another member has ended.
    bool broken() const AKO_NETWORK_THREAD { return broken_; }
    /// Is there to be another epoch, and does it not come about?
    bool is_wanted() const AKO_NETWORK_THREAD { return wanted_since_.has_value(); }
    /// Members that cannot be reached, for so long that this peer gives up; nothing: it does not.
    std::optional<PeerSet> gives_up_without(Time now) const AKO_NETWORK_THREAD;

  private:
    /// What the others are to this peer at a moment.
    struct View {
        PeerSet there = 0;     ///< members with a session, this one included
        PeerSet away = 0;      ///< members that do not come back
        PeerSet entrants = 0;  ///< processes that ask to come in, and hear all that are there
        bool broken = false;   ///< somebody says that this epoch is
    };

    View view(Time now) const AKO_NETWORK_THREAD;
    bool stays_away(PeerIndex peer, Time now) const AKO_NETWORK_THREAD;
    bool asks_to_come_in(PeerIndex peer) const AKO_NETWORK_THREAD;
    /// The members of the next, if there is to be a next; nothing: not now.
    std::optional<PeerSet> wanted(Time now) AKO_NETWORK_THREAD;
    PeerSet founders(Time now) const AKO_NETWORK_THREAD;
    /// Is it this peer's turn?
    bool turn(Time now) AKO_NETWORK_THREAD;

    ElasticParts& parts_;
    const ElasticPace& pace_;
    const ElasticBeginning& beginning_;
    const Time life_timeout_;
    const Time turn_first_;

    bool finishing_ = false;
    bool broken_ = false;
    std::optional<Time> wanted_since_;
    Time turn_{};  ///< for so long nobody else proposes
    std::optional<Time> proposed_at_;
    Ballot followed_;  ///< the newest ballot of another
    Time followed_at_{};
};

}  // namespace ako
