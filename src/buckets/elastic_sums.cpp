// See elastic_sums.h.
#include "src/buckets/elastic_sums.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "ako/assert.h"

namespace ako {
namespace {

/// The newest sync of each bucket.
std::vector<std::uint64_t> each_bucket(const Holding& holding, std::size_t bucket_count) {
    std::vector<std::uint64_t> held;
    held.reserve(bucket_count);
    for (const SyncRun& run : holding.sums) held.insert(held.end(), run.buckets, run.sync);
    AKO_ASSERT(held.size() == bucket_count, "a holding of other buckets");
    return held;
}

}  // namespace

ElasticSums::ElasticSums(const Buckets& buckets, PeerIndex self, std::size_t straight_bytes_max,
                         const EpochCircles& circles, BucketBoard& board, EpochQueues& queues,
                         BlockedPeers& blocked)
    : buckets_(buckets),
      self_(self),
      straight_bytes_max_(straight_bytes_max),
      circles_(circles),
      board_(board),
      queues_(queues),
      blocked_(blocked),
      sums_{std::vector<float>(buckets.parameter_count()),
            std::vector<float>(buckets.parameter_count())},
      states_(buckets.count()) {}

// ---- epochs

std::vector<SyncRun> ElasticSums::held() const {
    std::vector<SyncRun> runs;
    for (const State& state : states_) {
        if (runs.empty() || runs.back().sync != state.held) runs.push_back({0, state.held});
        ++runs.back().buckets;
    }
    return runs;
}

void ElasticSums::drop() {
    active_ = false;
    queues_.stop();
    for (PeerIndex peer = 0; peer < queues_.peer_count(); ++peer) {
        while (const auto chunk = queues_.pop(peer, buckets_.parameter_count())) {
            if (const auto parity = parity_of(chunk->values))
                release(chunk->bucket, *parity, chunk->count);
        }
        queues_.copy_aside(peer);
    }
    for (State& state : states_) {
        for (Pass& pass : state.passes) {
            if (pass.sync <= state.held) continue;
            pass.sync = 0;
            pass.ring.drop();
            pass.contributors = 0;
        }
    }
}

void ElasticSums::forget_own() {
    for (State& state : states_) state.own.reset();
}

void ElasticSums::begin(const std::vector<Holding>& holdings) {
    active_ = true;
    if (!circles_.founds()) {
        const PeerSet old = circles_.old().set();
        std::vector<std::vector<std::uint64_t>> held(holdings.size());
        for (PeerIndex peer = 0; peer < holdings.size(); ++peer)
            if (old & peer_bit(peer)) held[peer] = each_bucket(holdings[peer], buckets_.count());
        std::vector<std::uint64_t> of_bucket(holdings.size());
        for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket) {
            for (PeerIndex peer = 0; peer < held.size(); ++peer)
                of_bucket[peer] = held[peer].empty() ? 0 : held[peer][bucket];
            restore(bucket, of_bucket);
        }
    }
    for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket) begin_pass(bucket);
}

void ElasticSums::begin_after(std::uint64_t sync) {
    for (State& state : states_) {
        state.own.reset();
        state.held = state.consumed = state.target = sync;
        for (Pass& pass : state.passes) pass.sync = 0;
    }
}

// A sum that somebody holds is handed to those who lack it, by all holders in turn.
void ElasticSums::restore(std::size_t bucket, const std::vector<std::uint64_t>& held) {
    State& state = states_[bucket];
    state.target = *std::max_element(held.begin(), held.end());
    std::vector<PeerIndex> holders, lack;
    for (PeerIndex peer = 0; peer < held.size(); ++peer)
        if (circles_.old().has(peer)) (held[peer] == state.target ? holders : lack).push_back(peer);
    for (std::size_t k = 0; k < lack.size(); ++k)
        if (lack[k] == self_) state.restorer = holders[(bucket + k) % holders.size()];
    if (state.held != state.target) return;
    const Pass& pass = pass_of(bucket, state.target);
    const Range range = buckets_[bucket];
    for (std::size_t k = 0; k < lack.size(); ++k) {
        if (holders[(bucket + k) % holders.size()] != self_) continue;
        send(lack[k], bucket,
             {.kind = ChunkKind::restored,
              .wish = pass.ring.wish(),
              .sync = state.target,
              .first = range.first,
              .contributors = pass.contributors},
             range.count, of(state.target).data() + range.first);
    }
}

// ---- of the compute half

void ElasticSums::contributed(const Contribution& contribution) {
    states_[contribution.bucket].own = contribution;
    begin_pass(contribution.bucket);
}

void ElasticSums::consumed(std::size_t bucket, std::uint64_t sync) {
    states_[bucket].consumed = sync;
    blocked_.unblock();
}

// ---- summing

RingBucket ElasticSums::ring_bucket(std::size_t bucket, std::uint64_t sync) const {
    const Range range = buckets_[bucket];
    return {bucket, range, &circles_.of(sync),
            payload_bytes_of(range.count) <= straight_bytes_max_};
}

bool ElasticSums::prepare(std::size_t bucket, std::uint64_t sync) {
    Pass& pass = pass_of(bucket, sync);
    if (pass.sync == sync) return true;
    if (pass.busy > 0 || states_[bucket].consumed + 2 < sync) return false;
    pass.sync = sync;
    pass.ring.clear(ring_bucket(bucket, sync), sums_[sync % 2].data());
    pass.contributors = 0;
    return true;
}

void ElasticSums::begin_pass(std::size_t bucket) {
    State& state = states_[bucket];
    const std::uint64_t sync = state.held + 1;
    if (!active_ || sync <= state.target) return;
    if (!state.own || state.own->sync != sync || !prepare(bucket, sync)) return;
    Pass& pass = pass_of(bucket, sync);
    if (pass.ring.begun()) return;
    pass.contributors = circles_.of(sync).set();
    if (pass.ring.begin(*state.own, *this)) whole(bucket, pass);
}

void ElasticSums::whole(std::size_t bucket, const Pass& pass) {
    State& state = states_[bucket];
    AKO_ASSERT(pass.sync == state.held + 1, "sync " + std::to_string(pass.sync));
    state.held = pass.sync;
    board_.complete(bucket, pass.sync, {pass.ring.wish(), 0, 0, pass.contributors});
    begin_pass(bucket);
    blocked_.unblock();
}

void ElasticSums::send(PeerIndex to, std::size_t bucket, const Chunk& chunk, std::size_t count,
                       const float* values) {
    if (parity_of(values)) pass_of(bucket, chunk.sync).busy += count;
    queues_.push(to, {chunk, bucket, count, values});
}

std::optional<std::uint64_t> ElasticSums::parity_of(const float* values) const {
    for (const std::uint64_t parity : {0U, 1U}) {
        const std::vector<float>& sums = sums_[parity];
        if (!std::less<>()(values, sums.data()) && std::less<>()(values, sums.data() + sums.size()))
            return parity;
    }
    return std::nullopt;
}

// ---- chunks

std::optional<std::string> ElasticSums::refuse(PeerIndex peer, const Chunk& chunk,
                                               std::size_t count) const {
    if (chunk.kind == ChunkKind::restored) return refuse_restored(peer, chunk, count);
    if (chunk.kind != ChunkKind::reduced && chunk.kind != ChunkKind::gathered)
        return "a Chunk that no peer of a ring sends";
    const std::size_t bucket = buckets_.at(chunk.first);
    const State& state = states_[bucket];
    if (chunk.sync <= std::max(state.held, state.target) || chunk.sync > state.held + 2)
        return "Chunk of sync " + std::to_string(chunk.sync) + " after sync " +
               std::to_string(state.held);
    const Circle& circle = circles_.of(chunk.sync);
    if (!circle.has(peer) || !circle.has(self_)) return "Chunk from who gives nothing to its sync";
    const Pass& pass = state.passes[chunk.sync % 2];
    return pass.ring.refuse(ring_bucket(bucket, chunk.sync), pass.sync == chunk.sync, peer, chunk,
                            count);
}

std::optional<std::string> ElasticSums::refuse_restored(PeerIndex peer, const Chunk& chunk,
                                                        std::size_t count) const {
    const std::size_t bucket = buckets_.at(chunk.first);
    const State& state = states_[bucket];
    const Pass& pass = state.passes[chunk.sync % 2];
    const bool lacks = chunk.sync == state.target && state.held + 1 == state.target;
    const std::size_t come = pass.sync == chunk.sync ? pass.ring.summed() : 0;
    if (!lacks || come + count > buckets_[bucket].count) return "Chunk sent twice";
    if (peer != state.restorer) return "Chunk of a sum that another peer hands over";
    const PeerSet all = ~PeerSet{0} >> (peers_max - queues_.peer_count());
    const bool named = chunk.contributors != 0 && (chunk.contributors & ~all) == 0;
    return named ? std::nullopt
                 : std::optional<std::string>("Chunk.contributors names nobody, or strangers");
}

std::optional<std::span<float>> ElasticSums::reserve(PeerIndex peer, const Chunk& chunk,
                                                     std::size_t count) {
    const std::size_t bucket = buckets_.at(chunk.first);
    if (!prepare(bucket, chunk.sync)) return std::nullopt;
    Pass& pass = pass_of(bucket, chunk.sync);
    pass.busy += count;
    return pass.ring.memory(peer, chunk, count);
}

void ElasticSums::arrived(PeerIndex peer, const Chunk& chunk, std::size_t count) {
    const std::size_t bucket = buckets_.at(chunk.first);
    Pass& pass = pass_of(bucket, chunk.sync);
    bool all = false;
    if (chunk.kind == ChunkKind::restored) {
        pass.contributors = chunk.contributors;
        all = pass.ring.add_whole(count, chunk.wish);
    } else {
        all = pass.ring.arrived(peer, chunk, count, *this);
    }
    if (all) whole(bucket, pass);
}

void ElasticSums::release(std::size_t bucket, std::uint64_t parity, std::size_t count) {
    Pass& pass = states_[bucket].passes[parity];
    AKO_ASSERT(pass.busy >= count, "more is released than was in use");
    pass.busy -= count;
    if (pass.busy > 0) return;
    begin_pass(bucket);
    blocked_.unblock();
}

}  // namespace ako
