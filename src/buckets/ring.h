// Ring all-reduce of buckets (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
// clusters of workstations", 2009): every peer sends 2(n-1)/n of the vector per sync, and large
// buckets to its successor only.
//
//   bucket    is cut into n segments, one per peer
//   reduce    segment s starts at peer s with that peer's own values; each peer on the way adds its
//             own, so the last, s-1, holds the whole sum, always added in the same order
//   gather    from there the sum goes round once more and is copied; every peer holds the same bits
//
// A bucket of a few small layers is worth more soon than cheaply: its segments go straight to the
// peer that sums them up and from there straight to everybody, the same bytes in two hops instead
// of 2(n-1). Behind full queues each hop takes milliseconds, and the first layer's is awaited
// first.
//
// Segments travel as chunks of whatever size a link takes; each is passed on as soon as it is here,
// so the ring is a pipeline. Every chunk carries the strongest wish of those it has passed:
// when a bucket is complete, all peers know the same wish. Network thread only.
#pragma once

#include <vector>

#include "ako/payload.h"
#include "ako/threads.h"
#include "src/buckets/all_reduce.h"
#include "src/buckets/part_sum.h"

namespace ako {

class Ring final : public AllReduceProtocol {
  public:
    /// Buckets of at most `straight_bytes_max` go straight. All references outlive this.
    Ring(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
         std::size_t straight_bytes_max, BucketBoard& board, Transport& transport);

    bool partner(PeerIndex) const override AKO_NETWORK_THREAD { return true; }
    void arrived(PeerIndex peer, const Chunk& chunk, std::size_t count) override AKO_NETWORK_THREAD;

  private:
    struct Early {  ///< a partial sum that came before this peer's own values
        Chunk chunk;
        std::size_t count = 0;
    };
    /// What has come of one bucket in the sync under way.
    struct State {
        std::vector<Early> early;
        std::size_t reduced = 0;                 ///< elements that have come as partial sums
        std::size_t gathered = 0;                ///< and as whole ones
        std::vector<std::size_t> gathered_from;  ///< [peer], if it goes straight
        std::size_t summed = 0;                  ///< elements whose whole sum is here
    };

    void begin(std::size_t bucket) override AKO_NETWORK_THREAD;
    void clear(std::size_t bucket) override AKO_NETWORK_THREAD;
    std::optional<std::string> refuse_of(std::size_t bucket, bool now, PeerIndex peer,
                                         const Chunk& chunk,
                                         std::size_t count) const override AKO_NETWORK_THREAD;
    std::span<float> memory_of(std::size_t bucket, PeerIndex peer, const Chunk& chunk,
                               std::size_t count) override AKO_NETWORK_THREAD;

    bool straight(std::size_t bucket) const AKO_NETWORK_THREAD {
        return payload_bytes_of(buckets_[bucket].count) <= straight_bytes_max_;
    }
    void begin_straight(std::size_t bucket) AKO_NETWORK_THREAD;
    /// Sums up this peer's part of a bucket that goes straight, if everything is here.
    void sum_part(std::size_t bucket) AKO_NETWORK_THREAD;
    void add_own(std::size_t bucket, const Chunk& chunk, std::size_t count) AKO_NETWORK_THREAD;
    void summed(std::size_t bucket, std::size_t count, const Wish& wish) AKO_NETWORK_THREAD;
    /// This peer's own values of a range, which nobody's are added to yet.
    void send_own(PeerIndex to, const Contribution& own, Range range) AKO_NETWORK_THREAD;
    std::optional<std::string> refuse_surplus(std::size_t bucket, bool now, const Chunk& chunk,
                                              std::size_t count) const AKO_NETWORK_THREAD;
    std::optional<std::string> refuse_round(const Chunk& chunk, std::size_t bucket,
                                            std::size_t count) const AKO_NETWORK_THREAD;
    std::optional<std::string> refuse_straight(std::size_t bucket, bool now, PeerIndex peer,
                                               const Chunk& chunk,
                                               std::size_t count) const AKO_NETWORK_THREAD;
    /// Peers from the start of the segment to this one.
    std::size_t hops(std::size_t segment) const AKO_NETWORK_THREAD {
        return (self_ + count_ - segment) % count_;
    }

    const std::size_t straight_bytes_max_;  // constant after construction
    const PeerIndex successor_;
    const PeerIndex predecessor_;

    std::vector<State> states_;   ///< [bucket]
    std::vector<PartSum> parts_;  ///< [bucket], of those that go straight
};

}  // namespace ako
