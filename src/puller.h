// Pulling blocks of one row that its owner cannot (or will not) send: asks one holder at a time,
// and the next one when that does not answer. Decides whom to ask for what and when; the caller
// sends the Want. Compute thread only.
#pragma once

#include <functional>
#include <optional>

#include "ako/blocks.h"
#include "ako/frame.h"
#include "ako/types.h"

namespace ako {

class Puller {
  public:
    /// Blocks asked for in one Want: as many as a holder queues for one peer
    /// (Outbox::relay_bytes_max).
    static constexpr BlockIndex blocks_max = 256;

    /// The version given to a lacking block: what is wanted (exact) or what is held (newer than).
    /// Nothing: the block is not lacking.
    using Lacking = std::function<std::optional<Version>(BlockIndex)>;

    Puller(PeerIndex row, BlockIndex block_count, Time timeout)
        : row_(row), block_count_(block_count), timeout_(timeout) {}

    struct Ask {
        PeerIndex holder = 0;
        Want want;
    };

    /// The next question, if it is time for one. `holders` is who says to hold what is lacking.
    std::optional<Ask> step(Time now, PeerSet holders, bool exact, const Lacking& lacking);

    /// `count` lacking blocks of the row came, from anyone.
    void arrived(BlockIndex count, Time now);

  private:
    std::optional<PeerIndex> choose(PeerSet holders);

    const PeerIndex row_;
    const BlockIndex block_count_;
    const Time timeout_;
    BlockIndex outstanding_ = 0;  ///< asked for and not yet arrived
    std::optional<Time> patience_until_;
    std::optional<PeerIndex> holder_;
    PeerSet silent_ = 0;     ///< holders that let the time-out pass
    BlockIndex cursor_ = 0;  ///< where the next question starts, so that none is starved
};

}  // namespace ako
