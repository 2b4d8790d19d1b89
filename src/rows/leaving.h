// A peer that leaves before the end, on purpose, while the others go on: it makes no more rounds,
// and goes when what it holds is held by those who stay. That is its own row up to its last round
// and, of rows whose owners are not there any more, what nobody else has.
//
//   begin   the grants of all links are lifted, so that each carries all that it has not carried
//           since the last round; its Status says that it leaves
//   over    every peer that stays and has a session says in its Status that it holds as much, or
//           has not moved for the patience and as long as its answers take (it hangs, or its link
//           carries nothing); or the limit is reached: whoever sent the signal ends the process
//           soon after, whatever is missing
//
// What did not come to everybody is relayed among those who stay: the cursors of the links begin in
// different places, so even a row that was cut short lies at several of them as a whole.
//
// Where nobody stays there is nothing to go on: the caller then stops for all, and those who wanted
// to leave end together. They must still be a majority of the file to agree. So where fewer than
// that would stay, a peer does not go before the patience is over, in which all who were asked at
// the same time have said so. Compute thread only; told the time.
#pragma once

#include <vector>

#include "ako/types.h"
#include "src/exchange/roster.h"
#include "src/rows/ledger.h"

namespace ako {

class Leaving {
  public:
    /// Both outlive this. `patience`: see above; `limit`: of the whole.
    Leaving(const Ledger& ledger, const Roster& roster, Time patience, Time limit, Time now);

    /// Is there a peer that goes on without this one?
    static bool somebody_stays(const Roster& roster) { return staying(roster) > 0; }

    /// Looks at what the others hold. True: this peer may go.
    bool step(Time now);

    /// Can those who stay agree at the end, without this one and those who leave as well?
    bool enough_stay() const;

    /// The peers that held all that this one gives, its own row too, when last looked.
    PeerSet handed_to() const { return handed_to_; }
    Time taken(Time now) const { return now - began_at_; }

  private:
    struct Other {
        /// Checksums of the version maps that it has of the rows that this peer `gives`.
        std::vector<std::uint32_t> held;
        Time moved_at{};
    };

    static bool stays(const PeerView& view) { return view.live() && !view.leaving(); }
    /// How many others do.
    static std::size_t staying(const Roster& roster);
    /// Can this peer give others something of the row? An owner that is there gives them more,
    /// unless it is only on its way back and has its row from them.
    bool gives(RowIndex row) const {
        const PeerView& owner = roster_[owner_of(row)];
        return row == ledger_.own() || !owner.live() || owner.joins();
    }
    /// Does it hold all of that?
    bool holds_all(const Status& status) const;
    bool lacks(const RowHeld& theirs, RowIndex row) const;
    bool moves(PeerIndex peer, const Status& status, Time now);

    const Ledger& ledger_;
    const Roster& roster_;
    const Time patience_;
    const Time limit_;
    const Time began_at_;
    std::vector<Other> others_;  ///< [peer_count]; the entry of this peer is not used
    PeerSet handed_to_ = 0;
};

}  // namespace ako
