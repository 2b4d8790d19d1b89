// The checker of the ledger's invariants (src/README.md, "What always holds"). Sees every peer's
// past.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/ako_peer.h"
#include "tests/sim/violation.h"

namespace ako::sim {

class Invariants {
  public:
    Invariants(std::size_t peer_count, const Blocks& blocks, const TrainingSettings& training);

    /// `peer` has ended a round with this gradient, computed at this replica.
    void round_ended(const AkoPeer& peer, std::span<const float> gradient,
                     std::span<const float> replica_before, double rate, Time now);
    /// `peer` has made a step of the final exchange, with which its row may have given way once
    /// more, as if in a round without a gradient. True if it has.
    bool finishes(const AkoPeer& peer, Time now);
    /// `peer` has taken in what had arrived: I1, I3, I5 for what changed.
    void drained(const AkoPeer& peer);
    /// Another process begins under its name, with a row of its own.
    void begins_anew(PeerIndex peer);
    /// `peer` is training, and links carry 1/P of the vector per round, P being [peer]; `transit`
    /// is the most that passes between a round and the arrival of what it sends: I4.
    void steady(const AkoPeer& peer, std::span<const unsigned> partitions, Time transit,
                Time now) const;
    /// `peer` adopted a cut: versions may have fallen (I5), values must still be of the past (I1).
    void adopted(const AkoPeer& peer);
    /// All who can end have ended: I2, of those `on_one_side`.
    void ended(const AkoPeers& peers, const std::function<bool(PeerIndex)>& on_one_side);

    std::uint64_t blocks_checked() const { return blocks_checked_; }

  private:
    void add_past(const AkoPeer& peer, Time now);
    /// What gave way, if anything did, was part of what the row had grown by; it goes out of what
    /// the row must be.
    void give_way(const AkoPeer& peer);
    void check_own_row(const AkoPeer& peer);
    void check_rows(const AkoPeer& peer, bool may_fall);
    void check_block(const AkoPeer& peer, RowIndex row, BlockIndex block);
    void check_replica(const AkoPeer& peer);

    const Blocks blocks_;
    const TrainingSettings training_;
    using Past = std::vector<std::vector<float>>;  ///< [round]: a row after that round
    std::vector<std::vector<Past>> past_;          ///< [peer][life]
    std::vector<std::vector<std::optional<std::size_t>>> life_held_;  ///< [at][row]
    std::vector<std::vector<Time>> ended_at_;  ///< [peer][round], virtual time
    /// What each row must be: the sum of its owner's own updates, less what of it gave way, in
    /// double precision.
    std::vector<std::vector<double>> own_sum_;
    std::vector<std::vector<double>> velocity_;
    /// [at][row][block]
    std::vector<std::vector<std::vector<Version>>> seen_;
    std::vector<bool> adopted_;
    std::vector<double> row_max_;
    std::uint64_t blocks_checked_ = 0;
};

}  // namespace ako::sim
