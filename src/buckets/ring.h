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
// when a bucket is complete, all peers know the same wish. What is done for one bucket in one sync:
// ring_pass.h. Network thread only.
#pragma once

#include <vector>

#include "ako/payload.h"
#include "ako/threads.h"
#include "src/buckets/all_reduce.h"
#include "src/buckets/ring_pass.h"

namespace ako {

class Ring final : public AllReduceProtocol, private RingPass::Outlet {
  public:
    /// Buckets of at most `straight_bytes_max` go straight. All references outlive this.
    Ring(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
         std::size_t straight_bytes_max, BucketBoard& board, Transport& transport);

    bool partner(PeerIndex) const override AKO_NETWORK_THREAD { return true; }
    void arrived(PeerIndex peer, const Chunk& chunk, std::size_t count) override AKO_NETWORK_THREAD;

  private:
    void begin(std::size_t bucket) override AKO_NETWORK_THREAD;
    void clear(std::size_t bucket) override AKO_NETWORK_THREAD {
        passes_[bucket].clear(of(bucket), sums_.data());
    }
    std::optional<std::string> refuse_of(std::size_t bucket, bool now, PeerIndex peer,
                                         const Chunk& chunk,
                                         std::size_t count) const override AKO_NETWORK_THREAD {
        return passes_[bucket].refuse(of(bucket), now, peer, chunk, count);
    }
    std::span<float> memory_of(std::size_t bucket, PeerIndex peer, const Chunk& chunk,
                               std::size_t count) override AKO_NETWORK_THREAD {
        return passes_[bucket].memory(peer, chunk, count);
    }
    void send(PeerIndex to, std::size_t bucket, const Chunk& chunk, std::size_t count,
              const float* values) override AKO_NETWORK_THREAD {
        AllReduceProtocol::send(to, bucket, chunk, count, values);
    }

    RingBucket of(std::size_t bucket) const AKO_NETWORK_THREAD;
    /// Its whole sum is here.
    void whole(std::size_t bucket) AKO_NETWORK_THREAD;

    const std::size_t straight_bytes_max_;  // constant after construction
    const Circle circle_;

    std::vector<RingPass> passes_;  ///< [bucket], of the sync under way
};

}  // namespace ako
