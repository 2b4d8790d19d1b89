// See ring.h.
#include "src/buckets/ring.h"

#include <cstddef>
#include <utility>

namespace ako {

Ring::Ring(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
           std::size_t straight_bytes_max, BucketBoard& board, Transport& transport)
    : AllReduceProtocol(buckets, self, peer_count, board, transport),
      straight_bytes_max_(straight_bytes_max),
      successor_(static_cast<PeerIndex>((self + 1) % peer_count)),
      predecessor_(static_cast<PeerIndex>((self + peer_count - 1) % peer_count)),
      states_(buckets.count()) {
    for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket)
        parts_.emplace_back(part_of(buckets[bucket], self, peer_count), self, peer_count);
    for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket) clear(bucket);
}

void Ring::begin(std::size_t bucket) {
    if (straight(bucket)) return begin_straight(bucket);
    send_own(successor_, *syncs_[bucket].own, part_of(buckets_[bucket], self_, count_));
    for (const Early& early : std::exchange(states_[bucket].early, {}))
        add_own(bucket, early.chunk, early.count);
}

void Ring::clear(std::size_t bucket) {
    states_[bucket] = {};
    states_[bucket].gathered_from.resize(straight(bucket) ? count_ : 0);
    parts_[bucket].clear();
}

// Everybody's part straight to its owner; the one after this peer first, so that not all send to
// the same.
void Ring::begin_straight(std::size_t bucket) {
    const Contribution& own = *syncs_[bucket].own;
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
    const Sync& sync = syncs_[bucket];
    if (!sync.own) return;
    PartSum& sum = parts_[bucket];
    const Range part = sum.part();
    float* const values = sums_.data() + part.first;
    if (!sum.add_up(sync.own->vector.data() + part.first, values)) return;
    const Chunk chunk{
        .kind = ChunkKind::gathered, .wish = sync.wish, .sync = sync.number, .first = part.first};
    for (std::size_t step = 1; step < count_; ++step)
        send(static_cast<PeerIndex>((self_ + step) % count_), bucket, chunk, part.count, values);
    summed(bucket, part.count, chunk.wish);
}

// A partial sum is here and so are this peer's own values.
void Ring::add_own(std::size_t bucket, const Chunk& chunk, std::size_t count) {
    const Contribution& own = *syncs_[bucket].own;
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
    syncs_[bucket].wish = stronger(syncs_[bucket].wish, wish);
    if (state.summed == buckets_[bucket].count) complete(bucket);
}

std::optional<std::string> Ring::refuse_of(std::size_t bucket, bool now, PeerIndex peer,
                                           const Chunk& chunk, std::size_t count) const {
    if (auto complaint = refuse_surplus(bucket, now, chunk, count)) return complaint;
    if (straight(bucket)) return refuse_straight(bucket, now, peer, chunk, count);
    if (peer != predecessor_) return "a Chunk from a peer that is no predecessor";
    return refuse_round(chunk, bucket, count);
}

// More than is due, or a whole sum that cannot be one without this peer's values.
std::optional<std::string> Ring::refuse_surplus(std::size_t bucket, bool now, const Chunk& chunk,
                                                std::size_t count) const {
    const State& state = states_[bucket];
    if (chunk.kind == ChunkKind::gathered) {
        if (!now || !syncs_[bucket].own)
            return "Chunk of a whole sum before this peer gave its own values";
        if (straight(bucket)) return std::nullopt;      // see refuse_straight
        const std::size_t here = (self_ + 1) % count_;  // the part that becomes whole here
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

std::optional<std::string> Ring::refuse_straight(std::size_t bucket, bool now, PeerIndex peer,
                                                 const Chunk& chunk, std::size_t count) const {
    const bool reduced = chunk.kind == ChunkKind::reduced;
    const Range part = part_of(buckets_[bucket], reduced ? self_ : peer, count_);
    if (chunk.first < part.first || chunk.first + count > part.first + part.count)
        return "Chunk of a part that is another peer's";
    // Of each peer by itself: what comes of another at the same time is not counted yet.
    const std::size_t come = !now      ? 0
                             : reduced ? parts_[bucket].arrived_from(peer)
                                       : states_[bucket].gathered_from[peer];
    if (come + count > part.count) return "Chunk sent twice";
    return std::nullopt;
}

std::span<float> Ring::memory_of(std::size_t bucket, PeerIndex peer, const Chunk& chunk,
                                 std::size_t count) {
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
        if (!reduced) {
            state.gathered_from[peer] += count;
            return summed(bucket, count, chunk.wish);
        }
        syncs_[bucket].wish = stronger(syncs_[bucket].wish, chunk.wish);
        parts_[bucket].arrived(peer, count);
        return sum_part(bucket);
    }
    if (reduced) {
        if (syncs_[bucket].own) return add_own(bucket, chunk, count);
        state.early.push_back({chunk, count});
        return;
    }
    // The successor has it already if the sum was completed there.
    const bool last = hops(part_at(buckets_[bucket], chunk.first, count_)) == count_ - 2;
    if (!last) send(successor_, bucket, chunk, count, sums_.data() + chunk.first);
    summed(bucket, count, chunk.wish);
}

}  // namespace ako
