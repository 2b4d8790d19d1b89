// See ring.h.
#include "src/buckets/ring.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "ako/assert.h"
#include "ako/payload.h"

namespace ako {

Ring::Ring(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
           std::size_t straight_bytes_max, BucketBoard& board, Transport& transport)
    : buckets_(buckets),
      self_(self),
      count_(peer_count),
      straight_bytes_max_(straight_bytes_max),
      successor_(static_cast<PeerIndex>((self + 1) % peer_count)),
      predecessor_(static_cast<PeerIndex>((self + peer_count - 1) % peer_count)),
      board_(board),
      transport_(transport),
      sums_(buckets.parameter_count()),
      states_(buckets.count()),
      queues_(peer_count) {
    for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket)
        parts_.emplace_back(part_of(buckets[bucket], self, peer_count), self, peer_count);
}

void Ring::contributed(const Contribution& contribution) {
    State& state = states_[contribution.bucket];
    if (contribution.sync == state.sync)
        begin(contribution.bucket, contribution);
    else
        state.later = contribution;
}

void Ring::begin(std::size_t bucket, const Contribution& own) {
    State& state = states_[bucket];
    AKO_ASSERT(!state.own && own.sync == state.sync, "sync " + std::to_string(own.sync));
    state.own = own;
    const Range range = buckets_[bucket];
    const Range segment = part_of(range, self_, count_);
    if (count_ == 1) {
        std::copy_n(own.vector.begin() + static_cast<std::ptrdiff_t>(range.first), range.count,
                    sums_.begin() + static_cast<std::ptrdiff_t>(range.first));
        return summed(bucket, range.count, own.wish);
    }
    if (straight(bucket)) return begin_straight(bucket);
    send_own(successor_, own, segment);
    for (const Early& early : std::exchange(state.early, {}))
        add_own(bucket, early.chunk, early.count);
}

// Everybody's part straight to its owner; the one after this peer first, so that not all send to
// the same.
void Ring::begin_straight(std::size_t bucket) {
    const Contribution& own = *states_[bucket].own;
    for (std::size_t step = 1; step < count_; ++step) {
        const auto to = static_cast<PeerIndex>((self_ + step) % count_);
        send_own(to, own, part_of(buckets_[bucket], to, count_));
    }
    sum_part(bucket);
}

void Ring::send_own(PeerIndex to, const Contribution& own, Range range) {
    const Chunk chunk{
        .kind = ChunkKind::reduced, .wish = own.wish, .sync = own.sync, .first = range.first};
    send(to, own.bucket, chunk, range.count, own.vector.data() + range.first);
}

void Ring::sum_part(std::size_t bucket) {
    State& state = states_[bucket];
    if (!state.own) return;
    PartSum& sum = parts_[bucket];
    const Range part = sum.part();
    float* const values = sums_.data() + part.first;
    if (!sum.add_up(state.own->vector.data() + part.first, values)) return;
    const Chunk chunk{.kind = ChunkKind::gathered,
                      .wish = stronger(state.wish, state.own->wish),
                      .sync = state.sync,
                      .first = part.first};
    for (std::size_t step = 1; step < count_; ++step)
        send(static_cast<PeerIndex>((self_ + step) % count_), bucket, chunk, part.count, values);
    summed(bucket, part.count, chunk.wish);
}

// A partial sum is here and so are this peer's own values.
void Ring::add_own(std::size_t bucket, const Chunk& chunk, std::size_t count) {
    const Contribution& own = *states_[bucket].own;
    float* const sum = sums_.data() + chunk.first;
    const float* const values = own.vector.data() + chunk.first;
    for (std::size_t k = 0; k < count; ++k) sum[k] += values[k];

    Chunk passed = chunk;
    passed.wish = stronger(chunk.wish, own.wish);
    const bool whole = hops(part_at(buckets_[bucket], chunk.first, count_)) == count_ - 1;
    if (whole) {
        passed.kind = ChunkKind::gathered;
        summed(bucket, count, passed.wish);
    }
    send(successor_, bucket, passed, count, sum);
}

void Ring::summed(std::size_t bucket, std::size_t count, const Wish& wish) {
    State& state = states_[bucket];
    state.summed += count;
    state.wish = stronger(state.wish, wish);
    if (state.summed == buckets_[bucket].count)
        board_.complete(bucket, state.sync, {state.wish, 0, 0});
}

void Ring::send(PeerIndex to, std::size_t bucket, const Chunk& chunk, std::size_t count,
                const float* values) {
    states_[bucket].unsent += count;
    queues_[to].push({chunk, bucket, count, values});
    transport_.wake(to);
}

void Ring::consumed(std::size_t bucket, std::uint64_t sync) {
    State& state = states_[bucket];
    AKO_ASSERT(sync == state.sync, "sync " + std::to_string(sync));
    state.consumed = true;
    advance(bucket);
}

void Ring::advance(std::size_t bucket) {
    State& state = states_[bucket];
    if (!state.consumed || state.unsent > 0) return;
    const auto later = state.later;
    parts_[bucket].clear();
    const std::uint64_t sync = state.sync + 1;
    state = {};
    state.sync = sync;
    if (later) begin(bucket, *later);
    const PeerSet blocked = std::exchange(blocked_, 0);
    for (PeerIndex peer = 0; peer < count_; ++peer)
        if (blocked & peer_bit(peer)) transport_.resume(peer);
}

std::optional<OutFrame> Ring::next(PeerIndex peer, std::size_t payload_bytes_max) {
    const auto chunk = queues_[peer].pop(elements_within(payload_bytes_max));
    if (!chunk) return std::nullopt;
    const std::size_t bucket = buckets_.at(chunk->header.first);
    return OutFrame{chunk->header, payload_of({chunk->values, chunk->count}),
                    BufferRef([this, bucket, count = chunk->count]() AKO_NETWORK_THREAD {
                        states_[bucket].unsent -= count;
                        advance(bucket);
                    })};
}

std::optional<std::string> Ring::refuse(PeerIndex peer, const Chunk& chunk,
                                        std::size_t count) const {
    if (chunk.kind != ChunkKind::reduced && chunk.kind != ChunkKind::gathered)
        return "a Chunk that no peer of a ring sends";
    if (count == 0 || chunk.first >= sums_.size() || count > sums_.size() - chunk.first)
        return "Chunk of " + std::to_string(count) + " elements from " +
               std::to_string(chunk.first) + " is outside the model";
    const std::size_t bucket = buckets_.at(chunk.first);
    const std::uint64_t sync = states_[bucket].sync;
    if (chunk.sync < sync || chunk.sync > sync + 1)
        return "Chunk of sync " + std::to_string(chunk.sync) + " in sync " + std::to_string(sync);
    if (auto complaint = refuse_surplus(chunk, bucket, count)) return complaint;
    if (straight(bucket)) return refuse_straight(peer, chunk, bucket, count);
    if (peer != predecessor_) return "a Chunk from a peer that is no predecessor";
    return refuse_round(chunk, bucket, count);
}

// More than is due, or a whole sum that cannot be one without this peer's values.
std::optional<std::string> Ring::refuse_surplus(const Chunk& chunk, std::size_t bucket,
                                                std::size_t count) const {
    const State& state = states_[bucket];
    const bool now = chunk.sync == state.sync;
    if (chunk.kind == ChunkKind::gathered) {
        if (!now || !state.own) return "Chunk of a whole sum before this peer gave its own values";
        const std::size_t here =
            straight(bucket) ? self_ : (self_ + 1) % count_;  // the part that becomes whole here
        const std::size_t due =
            buckets_[bucket].count - part_of(buckets_[bucket], here, count_).count;
        if (state.gathered + count > due) return "Chunk sent twice";
    } else if (!straight(bucket)) {
        const std::size_t due =
            buckets_[bucket].count - part_of(buckets_[bucket], self_, count_).count;
        if ((now ? state.reduced : 0) + count > due) return "Chunk sent twice";
    }
    return std::nullopt;
}

std::optional<std::string> Ring::refuse_round(const Chunk& chunk, std::size_t bucket,
                                              std::size_t count) const {
    const std::size_t segment = part_at(buckets_[bucket], chunk.first, count_);
    const Range whole = part_of(buckets_[bucket], segment, count_);
    if (chunk.first + count > whole.first + whole.count) return "Chunk of more than one segment";
    const bool reduced = chunk.kind == ChunkKind::reduced;
    if (reduced ? hops(segment) == 0 : hops(segment) == count_ - 1)
        return "Chunk that has gone round the ring already";
    return std::nullopt;
}

std::optional<std::string> Ring::refuse_straight(PeerIndex peer, const Chunk& chunk,
                                                 std::size_t bucket, std::size_t count) const {
    const bool reduced = chunk.kind == ChunkKind::reduced;
    const Range part = part_of(buckets_[bucket], reduced ? self_ : peer, count_);
    if (chunk.first < part.first || chunk.first + count > part.first + part.count)
        return "Chunk of a part that is another peer's";
    const bool now = chunk.sync == states_[bucket].sync;
    if (reduced && now && parts_[bucket].arrived_from(peer) + count > part.count)
        return "Chunk sent twice";
    return std::nullopt;
}

std::optional<std::span<float>> Ring::reserve(PeerIndex peer, const Chunk& chunk,
                                              std::size_t count) {
    const std::size_t bucket = buckets_.at(chunk.first);
    if (states_[bucket].sync != chunk.sync) {
        blocked_ |= peer_bit(peer);
        return std::nullopt;
    }
    if (straight(bucket) && chunk.kind == ChunkKind::reduced)
        return parts_[bucket].memory(peer, {chunk.first, count});
    return std::span(sums_).subspan(chunk.first, count);
}

void Ring::arrived(PeerIndex peer, const Chunk& chunk, std::size_t count) {
    const std::size_t bucket = buckets_.at(chunk.first);
    State& state = states_[bucket];
    const bool reduced = chunk.kind == ChunkKind::reduced;
    (reduced ? state.reduced : state.gathered) += count;
    if (straight(bucket)) {
        if (!reduced) return summed(bucket, count, chunk.wish);
        state.wish = stronger(state.wish, chunk.wish);
        parts_[bucket].arrived(peer, count);
        return sum_part(bucket);
    }
    if (reduced) {
        if (state.own) return add_own(bucket, chunk, count);
        state.early.push_back({chunk, count});
        return;
    }
    // The successor has it already if the sum was completed there.
    const bool last = hops(part_at(buckets_[bucket], chunk.first, count_)) == count_ - 2;
    if (!last) send(successor_, bucket, chunk, count, sums_.data() + chunk.first);
    summed(bucket, count, chunk.wish);
}

}  // namespace ako
