// What is sent next over one link: `LinkSchedule::next`, in link_schedule.cpp, is the place that
// decides.
//
// A cursor walks round-robin through the blocks of the own row. `partitions: auto` sends whenever
// the link can take more, so that P is what comes out, but for a bound below which fresher rows are
// worth less than they cost the processors of both sides (PartitionBound). `partitions: N` grants
// an N-th of the vector per round. One schedule per link: a slow link slows only itself. Network
// thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ako/blocks.h"
#include "ako/types.h"

namespace ako {

class LinkSchedule {
  public:
    /// The cursor starts (receiver - sender) mod peer_count of the way into the vector, so that in
    /// one round every peer receives different partitions from different peers.
    LinkSchedule(const Blocks& blocks, PeerIndex sender, PeerIndex receiver,
                 std::size_t peer_count);

    /// A session came up: every block is unsent to it.
    void begin_session();

    /// The snapshot of `round` is there: every block is news, and its share is granted, which is
    /// the whole vector in so many rounds.
    void begin_round(Round round, double partitions_min);

    /// Send all there is (while this peer waits, and in the final exchange).
    void lift_grants(bool lifted) { lifted_ = lifted; }

    /// The blocks to send now, at most `count_max` (>= 1), or nothing until the next round.
    std::optional<BlockRun> next(BlockIndex count_max);

    /// The same of the round that is being made, of which the blocks from `first` on are there:
    /// where all of the newest round has been sent, and the next may be as well.
    std::optional<BlockRun> next_early(Round round, BlockIndex first, BlockIndex count_max);

    /// Observed P: rounds between two sends of the same block, mean over about one cycle; 0 = not
    /// known yet.
    double observed_partitions() const { return observed_; }

  private:
    void observe(BlockRun run, Round round);

    const Blocks blocks_;
    bool lifted_ = false;
    BlockIndex cursor_;
    BlockIndex unsent_ = 0;  ///< blocks from the cursor on that were not sent since the last round
    double grant_ = 0;       ///< blocks in the newest round
    double credit_ = 0;      ///< blocks that are still granted
    Round round_ = 0;
    Round early_round_ = 0;         ///< of which blocks were sent before all of it was there
    BlockIndex early_from_ = 0;     ///< those from here on
    std::vector<Round> last_sent_;  ///< [block count], the round; 0 = not in this session
    double observed_ = 0;
};

}  // namespace ako
