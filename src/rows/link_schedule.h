// What is sent next over one link: `LinkSchedule::next`, in link_schedule.cpp, is the place that
// decides.
//
// A cursor walks round-robin through the blocks of the own row. `partitions: auto` sends whenever
// the link can take more, so that P is what comes out, up to half the vector per round over all
// links together: P is never below 2 (n - 1). What goes beyond that is worth less than it costs the
// processors of both sides (experiments/update-rule: with four peers LeNet needs no more rounds at
// P = 6 than at P = 3 or 1). `partitions: N` grants an N-th of the vector per round. One schedule
// per link: a slow link slows only itself. Network thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ako/blocks.h"
#include "ako/types.h"

namespace ako {

class LinkSchedule {
  public:
    /// `partitions` is the fixed P; 0 is auto. The cursor starts (receiver - sender) mod peer_count
    /// of the way into the vector, so that in one round every peer receives different partitions
    /// from different peers.
    LinkSchedule(const Blocks& blocks, unsigned partitions, PeerIndex sender, PeerIndex receiver,
                 std::size_t peer_count);

    /// The least rounds for one cycle.
    static double partitions_min(unsigned partitions, std::size_t peer_count);

    /// A session came up: every block is unsent to it.
    void begin_session();

    /// The snapshot of `round` is there: every block is news, and its share is granted.
    void begin_round(Round round);

    /// Send all there is (while this peer waits, and in the final exchange).
    void lift_grants(bool lifted) { lifted_ = lifted; }

    /// The blocks to send now, at most `count_max` (>= 1), or nothing until the next round.
    std::optional<BlockRun> next(BlockIndex count_max);

    /// Observed P: rounds between two sends of the same block, mean over about one cycle; 0 = not
    /// known yet.
    double observed_partitions() const { return observed_; }

  private:
    void observe(BlockRun run);

    const Blocks blocks_;
    const double grant_;  ///< blocks per round
    bool lifted_ = false;
    BlockIndex cursor_;
    BlockIndex unsent_ = 0;  ///< blocks from the cursor on that were not sent since the last round
    double credit_ = 0;      ///< blocks that are still granted
    Round round_ = 0;
    std::vector<Round> last_sent_;  ///< [block count], the round; 0 = not in this session
    double observed_ = 0;
};

}  // namespace ako
