// See ring.h.
#include "src/buckets/ring.h"

namespace ako {

Ring::Ring(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
           std::size_t straight_bytes_max, BucketBoard& board, Transport& transport)
    : AllReduceProtocol(buckets, self, peer_count, board, transport),
      straight_bytes_max_(straight_bytes_max),
      circle_(~PeerSet{0} >> (peers_max - peer_count), self),
      passes_(buckets.count()) {
    for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket) clear(bucket);
}

RingBucket Ring::of(std::size_t bucket) const {
    return {bucket, buckets_[bucket], &circle_,
            payload_bytes_of(buckets_[bucket].count) <= straight_bytes_max_};
}

void Ring::begin(std::size_t bucket) {
    if (passes_[bucket].begin(*syncs_[bucket].own, *this)) whole(bucket);
}

void Ring::arrived(PeerIndex peer, const Chunk& chunk, std::size_t count) {
    const std::size_t bucket = buckets_.at(chunk.first);
    if (passes_[bucket].arrived(peer, chunk, count, *this)) whole(bucket);
}

void Ring::whole(std::size_t bucket) {
    syncs_[bucket].wish = passes_[bucket].wish();
    complete(bucket);
}

}  // namespace ako
