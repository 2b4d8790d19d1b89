// See ring.h.
#include "src/modes/ring.h"

#include <algorithm>
#include <cstddef>

#include "ako/assert.h"

namespace ako {

Ring::Ring(const Buckets& buckets, PeerIndex self, std::size_t peer_count, BucketBoard& board,
           Transport& transport)
    : buckets_(buckets),
      self_(self),
      count_(peer_count),
      successor_(static_cast<PeerIndex>((self + 1) % peer_count)),
      predecessor_(static_cast<PeerIndex>((self + peer_count - 1) % peer_count)),
      board_(board),
      transport_(transport),
      sums_(buckets.parameter_count()),
      states_(buckets.count()) {}

void Ring::contributed(const Contribution& contribution) {
    State& state = states_[contribution.bucket];
    if (contribution.exchange == state.exchange)
        begin(contribution.bucket, contribution);
    else
        state.later = contribution;
}

void Ring::begin(std::size_t bucket, const Contribution& own) {
    State& state = states_[bucket];
    AKO_ASSERT(!state.own && own.exchange == state.exchange,
               "exchange " + std::to_string(own.exchange));
    state.own = own;
    const Range range = buckets_[bucket];
    const Range segment = part_of(range, self_, count_);
    if (count_ == 1) {
        std::copy_n(own.vector.begin() + static_cast<std::ptrdiff_t>(range.first), range.count,
                    sums_.begin() + static_cast<std::ptrdiff_t>(range.first));
        return summed(bucket, range.count, own.stop);
    }
    Chunk chunk;
    chunk.kind = ChunkKind::reduced;
    chunk.stop = own.stop;
    chunk.exchange = own.exchange;
    chunk.first = segment.first;
    send(bucket, chunk, segment.count, own.vector.data() + segment.first);
    for (const Early& early : std::exchange(state.early, {}))
        add_own(bucket, early.chunk, early.count);
}

// A partial sum is here and so are this peer's own values.
void Ring::add_own(std::size_t bucket, const Chunk& chunk, std::size_t count) {
    const Contribution& own = *states_[bucket].own;
    float* const sum = sums_.data() + chunk.first;
    const float* const values = own.vector.data() + chunk.first;
    for (std::size_t k = 0; k < count; ++k) sum[k] += values[k];

    Chunk passed = chunk;
    passed.stop = std::max(chunk.stop, own.stop);
    const bool whole = hops(part_at(buckets_[bucket], chunk.first, count_)) == count_ - 1;
    if (whole) {
        passed.kind = ChunkKind::gathered;
        summed(bucket, count, passed.stop);
    }
    send(bucket, passed, count, sum);
}

void Ring::summed(std::size_t bucket, std::size_t count, StopReason stop) {
    State& state = states_[bucket];
    state.summed += count;
    state.stop = std::max(state.stop, stop);
    if (state.summed == buckets_[bucket].count)
        board_.complete(bucket, state.exchange, {state.stop, 0, 0});
}

void Ring::send(std::size_t bucket, Chunk chunk, std::size_t count, const float* values) {
    states_[bucket].unsent += count;
    queue_.push({chunk, count, values});
    transport_.wake(successor_);
}

void Ring::consumed(std::size_t bucket, std::uint64_t exchange) {
    State& state = states_[bucket];
    AKO_ASSERT(exchange == state.exchange, "exchange " + std::to_string(exchange));
    state.consumed = true;
    advance(bucket);
}

void Ring::advance(std::size_t bucket) {
    State& state = states_[bucket];
    if (!state.consumed || state.unsent > 0) return;
    const auto later = state.later;
    const std::uint64_t exchange = state.exchange + 1;
    state = {};
    state.exchange = exchange;
    if (later) begin(bucket, *later);
    if (std::exchange(blocked_, false)) transport_.resume(predecessor_);
}

std::optional<OutFrame> Ring::next(PeerIndex peer, std::size_t payload_bytes_max) {
    if (peer != successor_) return std::nullopt;
    const auto chunk = queue_.pop(payload_bytes_max / sizeof(float));
    if (!chunk) return std::nullopt;
    const std::size_t bucket = buckets_.at(chunk->header.first);
    return OutFrame{chunk->header, std::as_bytes(std::span(chunk->values, chunk->count)),
                    BufferRef([this, bucket, count = chunk->count] {
                        states_[bucket].unsent -= count;
                        advance(bucket);
                    })};
}

std::optional<std::string> Ring::refuse(PeerIndex peer, const Chunk& chunk,
                                        std::size_t count) const {
    if (chunk.kind != ChunkKind::reduced && chunk.kind != ChunkKind::gathered)
        return "a Chunk that no peer of a ring sends";
    if (peer != predecessor_ || count_ == 1) return "a Chunk from a peer that is no predecessor";
    if (count == 0 || chunk.first >= sums_.size() || count > sums_.size() - chunk.first)
        return "Chunk of " + std::to_string(count) + " elements from " +
               std::to_string(chunk.first) + " is outside the model";
    const std::size_t bucket = buckets_.at(chunk.first);
    const std::size_t segment = part_at(buckets_[bucket], chunk.first, count_);
    const Range whole = part_of(buckets_[bucket], segment, count_);
    if (chunk.first + count > whole.first + whole.count) return "Chunk of more than one segment";
    const bool reduced = chunk.kind == ChunkKind::reduced;
    if (reduced ? hops(segment) == 0 : hops(segment) == count_ - 1)
        return "Chunk that has gone round the ring already";
    const std::uint64_t exchange = states_[bucket].exchange;
    if (chunk.exchange < exchange || chunk.exchange > exchange + 1)
        return "Chunk of exchange " + std::to_string(chunk.exchange) + " in exchange " +
               std::to_string(exchange);
    return std::nullopt;
}

std::optional<std::span<float>> Ring::reserve(PeerIndex, const Chunk& chunk, std::size_t count) {
    if (states_[buckets_.at(chunk.first)].exchange != chunk.exchange) {
        blocked_ = true;
        return std::nullopt;
    }
    return std::span(sums_).subspan(chunk.first, count);
}

void Ring::arrived(PeerIndex, const Chunk& chunk, std::size_t count) {
    const std::size_t bucket = buckets_.at(chunk.first);
    State& state = states_[bucket];
    if (chunk.kind == ChunkKind::reduced) {
        if (state.own) return add_own(bucket, chunk, count);
        state.early.push_back({chunk, count});
        return;
    }
    // The successor has it already if the sum was completed there.
    const bool last = hops(part_at(buckets_[bucket], chunk.first, count_)) == count_ - 2;
    if (!last) send(bucket, chunk, count, sums_.data() + chunk.first);
    summed(bucket, count, chunk.stop);
}

}  // namespace ako
