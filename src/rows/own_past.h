// What the own row was a moment ago: its newest snapshots, kept a little longer than they are sent
// from. A mark says what the own row was when another peer sealed a partial, and that lies a round
// or two back. Compute thread only.
#pragma once

#include <optional>
#include <vector>

#include "ako/threads.h"
#include "ako/types.h"
#include "src/rows/outbox.h"
#include "src/rows/snapshots.h"

namespace ako {

class OwnPast {
  public:
    /// The row at a moment between two of its snapshots, as if it had grown evenly meanwhile.
    struct Moment {
        const Snapshot* before;
        const Snapshot* after;  ///< may be the same
        float part;             ///< of the growth between them, 0 .. 1
    };

    /// Both outlive this.
    OwnPast(const Snapshots& snapshots, Outbox& outbox) : snapshots_(snapshots), outbox_(outbox) {}

    /// `newest` is the row from now on. What was kept longest is given back.
    void add(SnapshotIndex newest) AKO_COMPUTE_THREAD;
    /// The row is another one, or lost something: what it was is nothing to count from.
    void forget() AKO_COMPUTE_THREAD;

    /// The row as it was then; nothing if that is longer ago than what is kept.
    std::optional<Moment> at(Time time) const AKO_COMPUTE_THREAD;
    /// The same after a round, or now if that is still to be made.
    std::optional<Moment> after(Round round) const AKO_COMPUTE_THREAD;

  private:
    const Snapshots& snapshots_;
    Outbox& outbox_;
    std::vector<SnapshotIndex> kept_;  ///< at most past_snapshots, the newest last
};

}  // namespace ako
