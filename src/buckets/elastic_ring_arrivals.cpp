// What an elastic ring takes from others, and what it makes of it. The rest of the class is in
// elastic_ring.cpp.
#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "ako/payload.h"
#include "src/buckets/elastic_ring.h"

namespace ako {
namespace {

// Places of destinations, in the lower half of their tickets; the upper is the epoch.
constexpr std::uint64_t dropped_place = 1;
constexpr std::uint64_t state_place = 2;
constexpr std::uint64_t first_pass_place = 3;

std::uint64_t place_in(std::uint64_t ticket) { return ticket & 0xffff'ffffU; }
std::uint32_t epoch_in(std::uint64_t ticket) { return static_cast<std::uint32_t>(ticket >> 32); }

}  // namespace

std::optional<std::string> ElasticRing::refuse(PeerIndex peer, const Chunk& chunk,
                                               std::size_t count) const {
    const std::size_t elements = buckets_.parameter_count();
    if (count == 0 || chunk.first >= elements || count > elements - chunk.first)
        return "Chunk of " + std::to_string(count) + " elements from " +
               std::to_string(chunk.first) + " is outside the model";
    if (chunk.epoch < epoch_ || (!begun_here_ && chunk.epoch == epoch_ && !has_state_))
        return std::nullopt;  // it is read and dropped
    if (chunk.epoch > epoch_ || !begun_here_ || !circle_.has(peer))
        return "Chunk of epoch " + std::to_string(chunk.epoch) + ", which has not begun here";
    const std::size_t bucket = buckets_.at(chunk.first);
    const Range& range = buckets_[bucket];
    if (chunk.first + count > range.first + range.count) return "Chunk of more than one bucket";
    if (chunk.kind == ChunkKind::parameters || chunk.kind == ChunkKind::velocity) {
        const bool fits = !has_state_ && chunk.sync == entry_sync_ &&
                          taken_ + reads_ + count <= state_.elements() &&
                          (chunk.kind == ChunkKind::parameters || !state_.velocity.empty());
        return fits ? std::nullopt
                    : std::optional<std::string>("Chunk of a state that nobody has asked for");
    }
    return refuse_sum(peer, chunk, bucket, count);
}

std::optional<std::string> ElasticRing::refuse_sum(PeerIndex peer, const Chunk& chunk,
                                                   std::size_t bucket, std::size_t count) const {
    const State& state = states_[bucket];
    const Range& range = buckets_[bucket];
    const Pass& pass = state.passes[chunk.sync % 2];
    const bool known = pass.sync == chunk.sync;
    if (chunk.kind == ChunkKind::restored) {
        const bool lacks = chunk.sync == state.target && state.held + 1 == state.target;
        if (!lacks || (known && pass.summed + count > range.count)) return "Chunk sent twice";
        if (peer != state.restorer) return "Chunk of a sum that another peer hands over";
        const PeerSet all = ~PeerSet{0} >> (peers_max - queues_.size());
        const bool named = chunk.contributors != 0 && (chunk.contributors & ~all) == 0;
        return named ? std::nullopt
                     : std::optional<std::string>("Chunk.contributors names nobody, or strangers");
    }
    if (chunk.kind != ChunkKind::reduced && chunk.kind != ChunkKind::gathered)
        return "a Chunk that no peer of a ring sends";
    if (chunk.sync <= std::max(state.held, state.target) || chunk.sync > state.held + 2)
        return "Chunk of sync " + std::to_string(chunk.sync) + " after sync " +
               std::to_string(state.held);
    const Circle& circle = circle_of(chunk.sync);
    if (!circle.has(peer) || !circle.has(self_)) return "Chunk from who gives nothing to its sync";
    const bool reduced = chunk.kind == ChunkKind::reduced;
    if (!reduced && !(known && pass.begun))
        return "Chunk of a whole sum before this peer gave its own values";
    if (straight(bucket)) {
        const std::size_t from = circle.place_of(peer);
        const Range part = part_of(range, reduced ? circle.place() : from, circle.count());
        if (chunk.first < part.first || chunk.first + count > part.first + part.count)
            return "Chunk of a part that is another's";
        // Of each peer by itself: what comes of another at the same time is not counted yet.
        const std::size_t come = !known    ? 0
                                 : reduced ? pass.part.arrived_from(static_cast<PeerIndex>(from))
                                           : pass.gathered_from[from];
        if (come + count > part.count) return "Chunk sent twice";
        return std::nullopt;
    }
    const std::size_t come = !known ? 0 : reduced ? pass.reduced : pass.gathered;
    if (peer != circle.predecessor()) return "a Chunk from a peer that is no predecessor";
    const std::size_t segment = part_at(range, chunk.first, circle.count());
    const Range whole = part_of(range, segment, circle.count());
    if (chunk.first + count > whole.first + whole.count) return "Chunk of more than one segment";
    if (reduced ? circle.hops(segment) == 0 : circle.hops(segment) == circle.count() - 1)
        return "Chunk that has gone round the ring already";
    if (come + count > range.count) return "Chunk sent twice";
    return std::nullopt;
}

Destination ElasticRing::destination(std::uint64_t place, std::span<float> memory) const {
    return {payload_into(memory), std::uint64_t{epoch_} << 32 | place};
}

std::optional<Destination> ElasticRing::reserve(PeerIndex peer, const Chunk& chunk,
                                                std::size_t count) {
    if (chunk.epoch != epoch_ || !begun_here_) {
        if (dropped_.empty()) dropped_.resize(elements_within(payload_bytes_limit));
        return destination(dropped_place, std::span(dropped_).first(count));
    }
    if (chunk.kind == ChunkKind::parameters || chunk.kind == ChunkKind::velocity) {
        if (stale_reads_ > 0) {
            blocked_ |= peer_bit(peer);
            return std::nullopt;
        }
        reads_ += count;
        const auto& memory =
            chunk.kind == ChunkKind::parameters ? state_.parameters : state_.velocity;
        return destination(state_place, memory.subspan(chunk.first, count));
    }
    const std::size_t bucket = buckets_.at(chunk.first);
    if (!prepare(bucket, chunk.sync)) {
        blocked_ |= peer_bit(peer);
        return std::nullopt;
    }
    Pass& pass = pass_of(bucket, chunk.sync);
    pass.busy += count;
    const std::uint64_t place = first_pass_place + 2 * bucket + chunk.sync % 2;
    if (straight(bucket) && chunk.kind == ChunkKind::reduced) {
        const auto from = static_cast<PeerIndex>(circle_of(chunk.sync).place_of(peer));
        return destination(place, pass.part.memory(from, {chunk.first, count}));
    }
    return destination(place, {sums_at(chunk.sync, chunk.first), count});
}

void ElasticRing::arrived(PeerIndex peer, const Chunk& chunk, const Destination& destination,
                          std::size_t count) {
    const bool now = epoch_in(destination.ticket) == epoch_ && begun_here_;
    const std::uint64_t place = place_in(destination.ticket);
    if (place == dropped_place) return;
    if (place == state_place) {
        if (now) taken_ += count;
        return release_state(epoch_in(destination.ticket), count);
    }
    const std::uint64_t pass = place - first_pass_place;
    if (now) take_sum(peer, chunk, count);
    release(pass / 2, pass % 2, count);
}

void ElasticRing::abandoned(const Destination& destination, std::size_t count) {
    const std::uint64_t place = place_in(destination.ticket);
    if (place == state_place) release_state(epoch_in(destination.ticket), count);
    if (place < first_pass_place) return;
    const std::uint64_t pass = place - first_pass_place;
    release(pass / 2, pass % 2, count);
}

void ElasticRing::take_sum(PeerIndex peer, const Chunk& chunk, std::size_t count) {
    const std::size_t bucket = buckets_.at(chunk.first);
    Pass& pass = pass_of(bucket, chunk.sync);
    if (chunk.kind == ChunkKind::restored) {
        pass.contributors = chunk.contributors;
        return summed(bucket, pass, count, chunk.wish);
    }
    const Circle& circle = circle_of(chunk.sync);
    const bool reduced = chunk.kind == ChunkKind::reduced;
    (reduced ? pass.reduced : pass.gathered) += count;
    if (straight(bucket)) {
        if (!reduced) {
            pass.gathered_from[circle.place_of(peer)] += count;
            return summed(bucket, pass, count, chunk.wish);
        }
        pass.wish = stronger(pass.wish, chunk.wish);
        pass.part.arrived(static_cast<PeerIndex>(circle.place_of(peer)), count);
        return sum_part(bucket, pass);
    }
    if (reduced) {
        if (pass.begun) return add_own(bucket, chunk, count);
        pass.early.emplace_back(chunk, count);
        return;
    }
    // The successor has it already if the sum was completed there.
    const std::size_t segment = part_at(buckets_[bucket], chunk.first, circle.count());
    const bool last = circle.hops(segment) == circle.count() - 2;
    if (!last) send_sum(circle.successor(), bucket, chunk, count);
    summed(bucket, pass, count, chunk.wish);
}

void ElasticRing::release(std::size_t bucket, std::uint64_t parity, std::size_t count) {
    Pass& pass = states_[bucket].passes[parity];
    AKO_ASSERT(pass.busy >= count, "more is released than was in use");
    pass.busy -= count;
    if (pass.busy > 0) return;
    begin_pass(bucket);
    unblock();
}

void ElasticRing::release_state(std::uint32_t epoch, std::size_t count) {
    std::size_t& reads = epoch == epoch_ && begun_here_ ? reads_ : stale_reads_;
    AKO_ASSERT(reads >= count, "more is released than was in use");
    reads -= count;
    if (stale_reads_ == 0) unblock();
}

void ElasticRing::unblock() {
    const PeerSet blocked = std::exchange(blocked_, 0);
    for (PeerIndex peer = 0; peer < queues_.size(); ++peer)
        if (blocked & peer_bit(peer)) transport_.resume(peer);
}

}  // namespace ako
