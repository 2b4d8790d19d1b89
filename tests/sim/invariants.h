// The checker of the ledger's invariants (tests/sim/README.md, "What always holds"). Sees every
// process's past.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/sim/ako_peer.h"
#include "tests/sim/history.h"
#include "tests/sim/violation.h"

namespace ako::sim {

class Invariants {
  public:
    Invariants(std::size_t peer_count, const Blocks& blocks, const TrainingSettings& training);

    /// The newest versions that a claimed row was made of, [block]: of one life, or of several that
    /// were begun apart.
    using Sources = std::vector<std::vector<Version>>;
    /// `peer` has claimed its row: I1, of what it claims.
    Sources claimed(const AkoPeer& peer);
    /// `peer` may have posted a part of the round that it is making. True if it has.
    bool gave_part(const AkoPeer& peer);
    /// What `peer` has just given, and was not refused: I9.
    void gave(const AkoPeer& peer, std::span<const float> values);
    /// `peer` has ended a round with this gradient, computed at this replica.
    void round_ended(const AkoPeer& peer, std::span<const float> gradient,
                     std::span<const float> replica_before, double rate, Time now);
    /// `peer` has made a step of the final exchange, with which its row may have given way once
    /// more, as if in a round without a gradient. True if it has.
    bool finishes(const AkoPeer& peer, Time now);
    /// `peer` has taken in what had arrived: I1, I3, I5 for what changed.
    void drained(const AkoPeer& peer);
    /// `peer` is training, and links carry 1/P of the vector per round, P being [peer]; `transit`
    /// is the most that passes between a round and the arrival of what it sends: I4.
    void steady(const AkoPeer& peer, std::span<const unsigned> partitions, Time transit,
                Time now) const;
    /// `peer` adopted a cut: versions may have fallen (I5), values must still be of the past (I1).
    void adopted(const AkoPeer& peer);
    /// All who can end have ended: I2, of those that agreed on the same cut. That there are not
    /// two, agreement_check.h sees to.
    void ended(const SimCluster& cluster) const;

    const History& history() const { return history_; }
    std::uint64_t blocks_checked() const { return blocks_checked_; }

  private:
    /// What is known of one process.
    struct Seen {
        std::vector<std::vector<Version>> versions;  ///< [row][block]
        bool adopted = false;
        Round round = 0;  ///< of its row
        /// What its row must be: what it claimed and the sum of its own updates, less what of them
        /// gave way.
        std::vector<double> own_sum;
        std::vector<double> velocity;
        double largest = 0;  ///< norm that it gave in a round, as this process
        Round given = 0;     ///< rounds of it
    };

    Seen& seen(const AkoPeer& peer);
    void add_past(const AkoPeer& peer, Time now);
    /// What gave way, if anything did, was part of what the row had grown by since it was claimed;
    /// it goes out of what the row must be.
    void give_way(const AkoPeer& peer);
    void check_own_row(const AkoPeer& peer);
    void check_carry(std::span<const float> row, std::span<const float> carry) const;
    void check_rows(const AkoPeer& peer, bool may_fall);
    void check_block(const AkoPeer& peer, RowIndex row, BlockIndex block);
    void check_replica(const AkoPeer& peer);
    static void check_same_end(const AkoPeer& first, const AkoPeer& peer);
    static void check_finished_with(const SimCluster& cluster, const AkoPeer& peer, PeerIndex with);

    const std::size_t peer_count_;
    const Blocks blocks_;
    const TrainingSettings training_;
    History history_;
    std::map<const AkoPeer*, Seen> seen_;
    std::vector<std::vector<Time>> ended_at_;  ///< [peer][round], virtual time
    std::vector<double> row_max_;              ///< [peer], of all that its processes made
    std::uint64_t blocks_checked_ = 0;
};

}  // namespace ako::sim
