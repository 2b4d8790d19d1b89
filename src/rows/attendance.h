// Which peers take part in the training, as far as this peer hears: from the peer itself, or
// through others. Two things follow for the own row.
//
//   scale   Rows weigh 1 / peer_count each in the anchor. Own updates are multiplied by peer_count
//           / those who take part, so that the anchor moves by the mean of their updates, as if no
//           more peers were in the file: an absent one costs no step.
//   share   Two groups that train apart each move the anchor as far as they want by themselves, and
//           both rows together too far. When they meet, every peer keeps of what its row grew by
//           meanwhile the part that its group made of all the rounds, and the rest gives way.
//
// Where several parted at different moments and are heard of in one look, the last to part comes
// first: then what is kept of every part of the growth is the mean of all by their rounds. Where
// the first to part is heard of before the other, its group has given way to less than that, and
// the shares are only near it: after three parted one after the other, a peer may keep half where
// it should keep a third. That moves the anchor too far for a while, as a larger step does,
// and takes nothing from what rows agree on.
//
// Rounds are looked at, not sessions: a peer whose rows come through others is not apart, and one
// that stood still has nothing for which others' progress should give way. Compute thread only.
#pragma once

#include <vector>

#include "ako/types.h"
#include "src/exchange/roster.h"

namespace ako {

class Attendance {
  public:
    /// A peer that was apart is heard of again.
    struct Return {
        PeerIndex peer = 0;
        Round before = 0;  ///< its rounds, as heard of last
        Round rounds = 0;  ///< that it made since
        double share = 0;  ///< of the own growth meanwhile that gives way: within 0 .. 1
    };

    /// `patience`: a peer whose rounds have not moved for so long does not take part; nor does one
    /// that is gone or has left.
    Attendance(const Roster& roster, Time patience)
        : roster_(roster), patience_(patience), seen_(roster.peer_count()) {}

    /// Training begins, with what is known now.
    void begin(Time now);
    /// Before every round, after what came was handled: the peers that are back. Those that came
    /// together, in one message or several, are in the order in which they give way.
    std::vector<Return> look(Time now);

    bool takes_part(PeerIndex peer) const { return seen_[peer].takes_part; }
    /// What own updates are multiplied by: 1 where nobody is absent.
    double scale() const;

  private:
    struct Seen {
        Round rounds = 0;
        bool moved = false;        ///< since `begin`
        Round own_round_then = 0;  ///< when `rounds` last moved
        Time then{};
        Round others_then = 0;  ///< the rounds of all others, this peer included, at that moment
        bool takes_part = false;
    };

    /// All others, those first of whom the newest was heard latest.
    std::vector<PeerIndex> newest_first() const;
    Round rounds_of_others(PeerIndex peer) const;
    bool judge(PeerIndex peer, Time now) const;

    const Roster& roster_;
    const Time patience_;
    std::vector<Seen> seen_;  ///< [peer], this one included
};

}  // namespace ako
