// See all_reduce.h.
#include "src/buckets/all_reduce.h"

#include <algorithm>
#include <cstddef>

#include "ako/algorithm_settings.h"
#include "ako/assert.h"
#include "ako/payload.h"

namespace ako {

AllReduceProtocol::AllReduceProtocol(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
                                     BucketBoard& board, Transport& transport)
    : buckets_(buckets),
      self_(self),
      count_(peer_count),
      sums_(buckets.parameter_count()),
      syncs_(buckets.count()),
      board_(board),
      transport_(transport),
      queues_(peer_count),
      blocked_(transport) {}

void AllReduceProtocol::contributed(const Contribution& contribution) {
    Sync& sync = syncs_[contribution.bucket];
    if (contribution.sync == sync.number)
        begin_sync(contribution.bucket, contribution);
    else
        sync.later = contribution;
}

void AllReduceProtocol::begin_sync(std::size_t bucket, const Contribution& own) {
    Sync& sync = syncs_[bucket];
    AKO_ASSERT(!sync.own && own.sync == sync.number, "sync " + std::to_string(own.sync));
    sync.own = own;
    sync.wish = stronger(sync.wish, own.wish);
    if (count_ > 1) return begin(bucket);
    const Range range = buckets_[bucket];
    std::copy_n(own.vector.begin() + static_cast<std::ptrdiff_t>(range.first), range.count,
                sums_.begin() + static_cast<std::ptrdiff_t>(range.first));
    complete(bucket);
}

void AllReduceProtocol::complete(std::size_t bucket) {
    board_.complete(bucket, syncs_[bucket].number, {syncs_[bucket].wish, 0, 0});
}

void AllReduceProtocol::consumed(std::size_t bucket, std::uint64_t number) {
    Sync& sync = syncs_[bucket];
    AKO_ASSERT(number == sync.number, "sync " + std::to_string(number));
    sync.consumed = true;
    advance(bucket);
}

void AllReduceProtocol::advance(std::size_t bucket) {
    Sync& sync = syncs_[bucket];
    if (!sync.consumed || sync.unsent > 0) return;
    const auto later = sync.later;
    const std::uint64_t number = sync.number + 1;
    sync = {};
    sync.number = number;
    clear(bucket);
    if (later) begin_sync(bucket, *later);
    blocked_.unblock();
}

// ---- sending

void AllReduceProtocol::send(PeerIndex to, std::size_t bucket, const Chunk& chunk,
                             std::size_t count, const float* values) {
    syncs_[bucket].unsent += count;
    queues_[to].push({chunk, bucket, count, values});
    transport_.wake(to);
}

std::optional<OutFrame> AllReduceProtocol::next(PeerIndex peer, std::size_t payload_bytes_max) {
    const auto chunk = queues_[peer].pop(elements_within(payload_bytes_max));
    if (!chunk) return std::nullopt;
    return OutFrame{
        chunk->header, payload_of({chunk->values, chunk->count}),
        BufferRef([this, bucket = chunk->bucket, count = chunk->count]() AKO_NETWORK_THREAD {
            syncs_[bucket].unsent -= count;
            advance(bucket);
        })};
}

// ---- receiving

std::optional<std::string> AllReduceProtocol::refuse(PeerIndex peer, const Chunk& chunk,
                                                     std::size_t count) const {
    if (chunk.kind != ChunkKind::reduced && chunk.kind != ChunkKind::gathered)
        return "a Chunk that no peer of an all-reduce sends";
    if (count == 0 || chunk.first >= sums_.size() || count > sums_.size() - chunk.first)
        return "Chunk of " + std::to_string(count) + " elements from " +
               std::to_string(chunk.first) + " is outside the model";
    for (std::size_t other = 0; other < chunk.wish.learners.size(); ++other)
        if (chunk.wish.learners[other] > (other < count_ ? learners_max : 0))
            return "Chunk.learners says " + std::to_string(chunk.wish.learners[other]) +
                   " of peer " + std::to_string(other);
    const std::size_t bucket = buckets_.at(chunk.first);
    const std::uint64_t number = syncs_[bucket].number;
    if (chunk.sync < number || chunk.sync > number + 1)
        return "Chunk of sync " + std::to_string(chunk.sync) + " in sync " + std::to_string(number);
    return refuse_of(bucket, chunk.sync == number, peer, chunk, count);
}

std::optional<std::span<float>> AllReduceProtocol::reserve(PeerIndex peer, const Chunk& chunk,
                                                           std::size_t count) {
    const std::size_t bucket = buckets_.at(chunk.first);
    if (syncs_[bucket].number != chunk.sync) {
        blocked_.block(peer);
        return std::nullopt;
    }
    return memory_of(bucket, peer, chunk, count);
}

}  // namespace ako
