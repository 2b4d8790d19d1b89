// The least P of `partitions: auto`: how often a cycle over the vector is worth what it costs.
//
// Fresher rows save rounds and cost both sides processor time. With cycles of P rounds a run takes
//     (1 + cost / P) (1 + rounds_per_partition * P)
// times as long, where `cost` is what a whole vector to and from every other peer costs, as
// a share of the processor time of a round in which nothing is exchanged. That is least at
//     P = sqrt(cost / rounds_per_partition)
// The processor time of rounds is measured, over all threads, and what sending and receiving must
// have taken of it is taken off: so many bytes come as go, what is relayed is not counted. Until it
// is known, and where nobody measures it, P is 2 (n - 1). Network thread only.
#pragma once

#include <cstddef>

#include "ako/types.h"
#include "src/numbers/recent_times.h"

namespace ako {

class PartitionBound {
  public:
    /// Processor time for a byte that is sent and one that comes in return: at both their threads,
    /// the kernel's part included. Another machine may take half or twice as long; the bound
    /// follows the square root of it.
    static constexpr double seconds_per_byte = 4e-9;
    /// The part of it that no coding spares: checksums and sums of float32.
    static constexpr double share_of_elements = 0.1;
    /// How many more rounds a network needs, as a share, for each that a cycle takes longer
    /// (experiments/update-rule).
    static constexpr double rounds_per_partition = 0.015;
    /// Where the processor may wait for a gradient, from another device, it idles for more than the
    /// rest of a round either because a limit holds it back, or because it waits, and that the
    /// exchange does not make longer. Nobody says which: halfway.
    static constexpr double busy_share_min = 0.5;
    /// At least this share of a round's processor time counts as computing.
    static constexpr double compute_share_min = 0.5;
    /// Rounds whose median counts. The bound is not known before they are full.
    static constexpr std::size_t rounds_kept = 16;

    /// `may_wait`: the processor, for a gradient.
    PartitionBound(std::size_t peer_count, std::size_t vector_bytes, bool may_wait);

    /// The P that is worth it, at least 1: of a row to all others, bytes as float32 and on the
    /// wire, and of a round's processor time without the exchange, seconds.
    static double worth(double plain_bytes, double wire_bytes, double round_s);

    /// A part of the own row goes to a peer: bytes as float32, and on the wire.
    void sent(std::size_t plain_bytes, std::size_t wire_bytes);
    /// Round `round` was published now, when this process had used so much processor time in all;
    /// 0: nobody measures it. `sent_share`: bytes of a row on the way, as a share of float32's.
    void begin_round(Round round, Time now, Time processor_time, double sent_share = 1);

    /// The least rounds for one cycle, at least 1.
    double partitions() const { return partitions_; }

  private:
    struct Seen {
        Round round = 0;
        Time at{};
        Time processor_time{};
    };

    /// Processor time for bytes that go and as many that come in return.
    static double seconds_of(double plain_bytes, double wire_bytes);

    const double vector_bytes_;  ///< to all others
    const bool may_wait_;
    double exchanging_s_ = 0;  ///< since the last round
    double partitions_;
    Seen last_;
    RecentTimes<rounds_kept> rounds_;  ///< processor time of each, without the exchange's
};

}  // namespace ako
