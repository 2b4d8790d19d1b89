// The bound on staleness: `staleness_rounds_max: S`. A peer begins round r only if it holds round
// r - S of every live peer's row, so with S = 1 what a ring waits for. Who comes late, or stood
// still, has made fewer rounds, and is waited for as if it had made as many from then on. It awaits
// rows, never an answer, so that a round and what it brings travel one way. Who is ahead is so by S
// rounds at most, and a row lacks at most 2 S - 1 of those that its owner has made. Bounded
// staleness after Ho et al. ("More Effective Distributed ML via a Stale Synchronous Parallel
// Parameter Server", 2013), applied to what has arrived rather than to clocks.
//
// Nobody waits for ever: whoever waits sends all that is unsent whatever fixed P grants (see
// AkoCompute::too_stale), a stop is heard before the bound, and a peer of which nothing moves for
// longer than its rounds account for (see `patience_with`) is not waited for until it moves again:
// a peer that hangs must not stop the others. Compute thread only.
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

    /// `rounds_max` 0: no bound. `patience` is the least. Ledger and roster outlive this.
    StalenessBound(unsigned rounds_max, Time patience, const Ledger& ledger, const Roster& roster)
        : rounds_max_(rounds_max),
          patience_(patience),
          ledger_(ledger),
          roster_(roster),
          others_(roster.peer_count()) {}

    bool active() const { return rounds_max_ > 0; }

    /// Is there a peer to wait for before the next round? Ask again when something has arrived.
    bool must_wait(Time now);

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
        Time gap{};  ///< between its newest two announcements
        /// So many rounds less than this peer it had made when it came, came back or moved again.
        std::optional<std::int64_t> behind;
        bool given_up = false;
        bool told = false;  ///< of its being given up
    };

    Mark mark_of(PeerIndex peer) const;
    bool within(const Other& other) const;
    void look(Other& other, const Mark& mark, Time now);
    /// From now on, until it has caught up.
    void count_from(Other& other) const;
    /// Peers compute alike, or are known to be slow: four of the longer of the own round, without
    /// its waiting, and the other's newest; from `patience` to `patience_max`.
    Time patience_with(const Other& other) const;
    void measure_own_round(Time now);

    const unsigned rounds_max_;
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
