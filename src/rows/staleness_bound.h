// The bound on staleness S. A peer begins round r only if it holds round r - S of the row of every
// peer with a session that keeps step (Waits, StalenessChoice), so with S = 1 as in a ring. Who
// comes late, or stood still, has made fewer rounds: it is out of step, and not waited for until
// rounds are counted anew. A peer awaits rows, never an answer, so that a round and what it brings
// travel one way. Who is ahead is so by S rounds at most, and a row lacks at most 2 S - 1 of those
// that its owner has made. Bounded staleness after Ho et al. ("More Effective Distributed ML via a
// Stale Synchronous Parallel Parameter Server", 2013), applied to what has arrived rather than to
// clocks.
//
// Nobody waits for ever: whoever waits sends all that is unsent whatever fixed P grants (AkoStep),
// a stop is heard before the bound, and a peer of which nothing moves for longer than its rounds
// account for (see `patience_with`) is not waited for until it moves again: a peer that hangs must
// not stop the others. Compute thread only.
#pragma once

#include <optional>
#include <vector>

#include "src/exchange/roster.h"
#include "src/rows/ledger.h"

namespace ako {

class StalenessBound {
  public:
    /// However slow a peer is, nobody waits for longer without hearing anything new of it.
    static constexpr Time patience_max = std::chrono::minutes(5);

    /// So many rounds beyond what waiting allows one may be behind or ahead, and still be in step.
    static constexpr std::int64_t slack = 8;

    /// `patience` is the least. Ledger and roster outlive this.
    StalenessBound(Time patience, const Ledger& ledger, const Roster& roster)
        : patience_(patience), ledger_(ledger), roster_(roster), others_(roster.peer_count()) {}

    /// Is there a peer to wait for before the next round? Ask again when something has arrived.
    bool must_wait(const Waits& waits, Time now);

    /// Does `peer` keep step with the peer of `roster`, and is about as far as that?
    static bool in_step(const Waits& waits, const Roster& roster, PeerIndex peer);

    /// Peers that ran out of patience since the last call: they are left behind.
    std::vector<PeerIndex> take_given_up();

  private:
    /// All that moves when a peer sends, receives or trains.
    struct Mark {
        Round announced = 0;
        RowHeld held_here;             ///< of its row
        std::uint64_t held_there = 0;  ///< another number whenever it holds something else

        bool operator==(const Mark&) const = default;
    };
    struct Other {
        Mark mark;
        Time moved_at{};
        Time announced_at{};
        Time gap{};            ///< between its newest two announcements
        bool in_step = false;  ///< when it was looked at last
        bool given_up = false;
        bool told = false;  ///< of its being given up
    };

    Mark mark_of(PeerIndex peer) const;
    bool lacks_rounds(PeerIndex peer, const Waits& waits) const;
    void look(Other& other, const Mark& mark, Time now);
    /// Peers compute alike, or are known to be slow: four of the longer of the own round, without
    /// its waiting, and the other's newest; from `patience` to `patience_max`.
    Time patience_with(const Other& other) const;
    void measure_own_round(Time now);

    const Time patience_;
    const Ledger& ledger_;
    const Roster& roster_;
    std::vector<Other> others_;  ///< [peer_count]
    std::optional<Time> waiting_since_;
    std::optional<Time> round_began_;  ///< the own round that is being made
    Round round_before_ = 0;
    Time own_round_{};  ///< what the newest took
};

}  // namespace ako
