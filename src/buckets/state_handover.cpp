// See state_handover.h.
#include "src/buckets/state_handover.h"

#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "ako/payload.h"

namespace ako {
namespace {

/// A frame of fewer elements is mostly header.
constexpr std::size_t count_min = 256;

}  // namespace

StateHandover::StateHandover(const Buckets& buckets, Memory memory, const ElasticSums& sums,
                             EpochQueues& queues, BlockedPeers& blocked)
    : buckets_(buckets),
      memory_(memory),
      sums_(sums),
      queues_(queues),
      blocked_(blocked),
      serving_(queues.peer_count()) {}

void StateHandover::drop() {
    for (Serving& serving : serving_) serving = {};
    stale_reads_ += std::exchange(reads_, 0);
}

// ---- at a member

void StateHandover::give(std::uint64_t sync, const EpochCircles& circles) {
    sync_ = sync;
    for (PeerIndex peer = 0; peer < serving_.size(); ++peer) {
        if (!(circles.newcomers() & peer_bit(peer))) continue;
        for (std::size_t bucket = buckets_.count(); bucket-- > 0;)
            if (bucket % circles.old().count() == circles.old().place())
                serving_[peer].buckets.push_back(bucket);
    }
}

bool StateHandover::owes(PeerIndex peer) const {
    const std::vector<std::size_t>& waiting = serving_[peer].buckets;
    return queues_.going() && std::any_of(waiting.begin(), waiting.end(),
                                          [this](std::size_t bucket) AKO_NETWORK_THREAD {
                                              return sums_.is_used(bucket, sync_);
                                          });
}

void StateHandover::more_is_used() {
    for (PeerIndex peer = 0; peer < serving_.size(); ++peer)
        if (!serving_[peer].buckets.empty()) queues_.wake(peer);
}

// No BufferRef: it does not change before the newcomer has all of it, or the epoch ends.
std::optional<OutFrame> StateHandover::next(PeerIndex peer, std::size_t payload_bytes_max) {
    Serving& serving = serving_[peer];
    if (serving.sent == 0) {  // the first that the compute thread is done with
        const auto settled = [this](std::size_t bucket)
                                 AKO_NETWORK_THREAD { return sums_.is_used(bucket, sync_); };
        const auto found = std::find_if(serving.buckets.rbegin(), serving.buckets.rend(), settled);
        if (found == serving.buckets.rend()) return std::nullopt;
        std::iter_swap(found, serving.buckets.rbegin());
    }
    const Range range = buckets_[serving.buckets.back()];
    const bool velocity = serving.sent >= range.count;
    const std::size_t done = velocity ? serving.sent - range.count : serving.sent;
    const std::size_t count =
        std::min(range.count - done, std::max(elements_within(payload_bytes_max), count_min));
    const std::span<const float> vector = velocity ? memory_.velocity : memory_.parameters;
    const Chunk chunk{.kind = velocity ? ChunkKind::velocity : ChunkKind::parameters,
                      .sync = sync_,
                      .first = range.first + done,
                      .epoch = queues_.epoch()};
    serving.sent += count;
    const std::size_t vectors = memory_.velocity.empty() ? 1 : 2;
    if (serving.sent == vectors * range.count) {
        serving.buckets.pop_back();
        serving.sent = 0;
    }
    return OutFrame{chunk, payload_of(vector.subspan(chunk.first, count)), {}};
}

// ---- at a newcomer

void StateHandover::take(std::uint64_t sync) {
    sync_ = sync;
    taken_ = 0;
}

bool StateHandover::lacks(const Chunk& chunk, std::size_t count) const {
    return chunk.sync == sync_ && taken_ + reads_ + count <= memory_.elements() &&
           (chunk.kind == ChunkKind::parameters || !memory_.velocity.empty());
}

std::optional<std::span<float>> StateHandover::reserve(const Chunk& chunk, std::size_t count) {
    if (stale_reads_ > 0) return std::nullopt;
    reads_ += count;
    const bool parameters = chunk.kind == ChunkKind::parameters;
    return (parameters ? memory_.parameters : memory_.velocity).subspan(chunk.first, count);
}

void StateHandover::release(bool now, std::size_t count) {
    std::size_t& reads = now ? reads_ : stale_reads_;
    AKO_ASSERT(reads >= count, "more is released than was in use");
    reads -= count;
    if (stale_reads_ == 0) blocked_.unblock();
}

}  // namespace ako
