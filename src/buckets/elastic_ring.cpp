// See elastic_ring.h. What comes from others: elastic_ring_arrivals.cpp.
#include "src/buckets/elastic_ring.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ako/assert.h"
#include "ako/payload.h"

namespace ako {
namespace {

/// Of a state: a frame of fewer elements is mostly header.
constexpr std::size_t count_min = 256;

/// The newest sync of each bucket.
std::vector<std::uint64_t> each_bucket(const Holding& holding, std::size_t bucket_count) {
    std::vector<std::uint64_t> held;
    held.reserve(bucket_count);
    for (const SyncRun& run : holding.sums) held.insert(held.end(), run.buckets, run.sync);
    AKO_ASSERT(held.size() == bucket_count, "a holding of other buckets");
    return held;
}

}  // namespace

ElasticRing::ElasticRing(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
                         std::size_t straight_bytes_max, StateMemory state, BucketBoard& board,
                         Transport& transport)
    : buckets_(buckets),
      self_(self),
      straight_bytes_max_(straight_bytes_max),
      state_(state),
      board_(board),
      transport_(transport),
      sums_{std::vector<float>(buckets.parameter_count()),
            std::vector<float>(buckets.parameter_count())},
      states_(buckets.count()),
      queues_(peer_count),
      serving_(peer_count) {}

// ---- epochs

void ElasticRing::drop_flow() {
    begun_here_ = going_ = false;
    for (PeerIndex peer = 0; peer < queues_.size(); ++peer) {
        while (const auto chunk = queues_[peer].pop(buckets_.parameter_count())) {
            if (const auto parity = parity_of(chunk->values))
                release(chunk->bucket, *parity, chunk->count);
        }
        serving_[peer] = {};
        // What is being sent must not lie where the next epoch writes.
        if (peer != self_) transport_.copy_aside(peer);
    }
    for (State& state : states_) {
        for (Pass& pass : state.passes) {
            if (pass.sync <= state.held) continue;
            const std::size_t busy = pass.busy;
            PartSum part = std::move(pass.part);
            pass = {};
            pass.busy = busy;
            pass.part = std::move(part);  // somebody may still be read into it
        }
    }
    stale_reads_ += std::exchange(reads_, 0);
    unblock();
}

Holding ElasticRing::enter(std::uint32_t epoch) {
    epoch_ = epoch;
    drop_flow();
    Holding holding;
    holding.late = late_;
    if (!has_state_) return holding;
    holding.begun = begun_;
    for (const State& state : states_) {
        if (holding.sums.empty() || holding.sums.back().sync != state.held)
            holding.sums.push_back({0, state.held});
        ++holding.sums.back().buckets;
    }
    return holding;
}

void ElasticRing::leave() {
    has_state_ = false;
    late_ = true;
    drop_flow();
    for (State& state : states_) state.own.reset();
}

void ElasticRing::begin(PeerSet members, const std::vector<Holding>& holdings) {
    PeerSet old = 0;
    std::uint64_t begun = 0;
    for (PeerIndex peer = 0; peer < holdings.size(); ++peer) {
        if (!(members & peer_bit(peer)) || !holdings[peer].has_state()) continue;
        old |= peer_bit(peer);
        begun = std::max(begun, holdings[peer].begun);
    }
    const bool founds = old == 0;
    if (founds) old = members;
    circle_ = Circle(members, self_);
    old_ = Circle(old, self_);
    old_until_ = old == members ? 0 : begun;
    begun_here_ = true;
    if (!(old & peer_bit(self_))) return begin_as_newcomer(begun);
    has_state_ = true;
    entry_sync_ = begun;
    if (!founds) {
        std::vector<std::vector<std::uint64_t>> held(holdings.size());
        for (PeerIndex peer = 0; peer < holdings.size(); ++peer)
            if (old & peer_bit(peer)) held[peer] = each_bucket(holdings[peer], buckets_.count());
        std::vector<std::uint64_t> of_bucket(holdings.size());
        for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket) {
            for (PeerIndex peer = 0; peer < held.size(); ++peer)
                of_bucket[peer] = held[peer].empty() ? 0 : held[peer][bucket];
            restore(bucket, of_bucket, old);
        }
    }
    for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket) begin_pass(bucket);
    serve(members & ~old, old);
}

void ElasticRing::begin_as_newcomer(std::uint64_t after) {
    late_ = true;
    entry_sync_ = begun_ = after;
    taken_ = 0;
    for (State& state : states_) {
        state.own.reset();
        state.held = state.consumed = state.target = after;
        for (Pass& pass : state.passes) pass.sync = 0;
    }
}

// Who lacks a sum that somebody holds is handed it, by all holders in turn.
void ElasticRing::restore(std::size_t bucket, const std::vector<std::uint64_t>& held, PeerSet old) {
    State& state = states_[bucket];
    state.target = *std::max_element(held.begin(), held.end());
    std::vector<PeerIndex> holders, lack;
    for (PeerIndex peer = 0; peer < held.size(); ++peer)
        if (old & peer_bit(peer)) (held[peer] == state.target ? holders : lack).push_back(peer);
    for (std::size_t k = 0; k < lack.size(); ++k)
        if (lack[k] == self_) state.restorer = holders[(bucket + k) % holders.size()];
    if (state.held != state.target) return;
    const Pass& pass = pass_of(bucket, state.target);
    for (std::size_t k = 0; k < lack.size(); ++k) {
        if (holders[(bucket + k) % holders.size()] != self_) continue;
        send_sum(lack[k], bucket,
                 {.kind = ChunkKind::restored,
                  .wish = pass.wish,
                  .sync = state.target,
                  .first = buckets_[bucket].first,
                  .contributors = pass.contributors},
                 buckets_[bucket].count);
    }
}

void ElasticRing::serve(PeerSet newcomers, PeerSet old) {
    for (PeerIndex peer = 0; peer < serving_.size(); ++peer) {
        if (!(newcomers & peer_bit(peer))) continue;
        const auto givers = static_cast<std::size_t>(std::popcount(old));
        for (std::size_t bucket = buckets_.count(); bucket-- > 0;)
            if (bucket % givers == old_.place()) serving_[peer].buckets.push_back(bucket);
    }
}

void ElasticRing::go() {
    if (std::exchange(going_, true)) return;
    for (PeerIndex peer = 0; peer < queues_.size(); ++peer)
        if (peer != self_) transport_.wake(peer);
}

std::optional<std::uint64_t> ElasticRing::asked_for() const {
    if (!begun_here_ || !has_state_ || old_.set() == circle_.set()) return std::nullopt;
    if (!old_.has(self_)) return std::nullopt;
    return entry_sync_;
}

// ---- of the compute half

void ElasticRing::contributed(const Contribution& contribution) {
    if (!has_state_) return;
    begun_ = std::max(begun_, contribution.sync);
    states_[contribution.bucket].own = contribution;
    begin_pass(contribution.bucket);
}

void ElasticRing::consumed(std::size_t bucket, std::uint64_t sync) {
    if (!has_state_) return;
    states_[bucket].consumed = sync;
    unblock();
    for (PeerIndex peer = 0; peer < serving_.size(); ++peer)
        if (!serving_[peer].buckets.empty()) transport_.wake(peer);
}

// ---- summing

bool ElasticRing::prepare(std::size_t bucket, std::uint64_t sync) {
    Pass& pass = pass_of(bucket, sync);
    if (pass.sync == sync) return true;
    if (pass.busy > 0 || states_[bucket].consumed + 2 < sync) return false;
    PartSum part = std::move(pass.part);
    const PeerSet made_for = pass.part_of_set;
    pass = {};
    pass.sync = sync;
    const Circle& circle = circle_of(sync);
    if (!straight(bucket)) return true;
    pass.part_of_set = circle.set();
    pass.gathered_from.resize(circle.count());
    if (made_for == circle.set()) {
        part.clear();
        pass.part = std::move(part);
    } else {
        pass.part = PartSum(part_of(buckets_[bucket], circle.place(), circle.count()),
                            static_cast<PeerIndex>(circle.place()), circle.count());
    }
    return true;
}

void ElasticRing::begin_pass(std::size_t bucket) {
    State& state = states_[bucket];
    const std::uint64_t sync = state.held + 1;
    if (!begun_here_ || !has_state_ || sync <= state.target) return;
    if (!state.own || state.own->sync != sync || !prepare(bucket, sync)) return;
    Pass& pass = pass_of(bucket, sync);
    if (std::exchange(pass.begun, true)) return;
    const Circle& circle = circle_of(sync);
    pass.contributors = circle.set();
    const Range range = buckets_[bucket];
    if (circle.count() == 1) {
        std::copy_n(state.own->vector.data() + range.first, range.count,
                    sums_at(sync, range.first));
        return summed(bucket, pass, range.count, state.own->wish);
    }
    if (straight(bucket)) return begin_straight(bucket, pass, circle);
    send_own(circle.successor(), *state.own, part_of(range, circle.place(), circle.count()));
    for (const auto& [chunk, count] : std::exchange(pass.early, {})) add_own(bucket, chunk, count);
}

void ElasticRing::begin_straight(std::size_t bucket, Pass& pass, const Circle& circle) {
    const Contribution& own = *states_[bucket].own;
    for (std::size_t step = 1; step < circle.count(); ++step) {
        const PeerIndex to = circle.after(step);
        send_own(to, own, part_of(buckets_[bucket], circle.place_of(to), circle.count()));
    }
    sum_part(bucket, pass);
}

void ElasticRing::sum_part(std::size_t bucket, Pass& pass) {
    if (!pass.begun) return;
    const Contribution& own = *states_[bucket].own;
    const Range part = pass.part.part();
    if (!pass.part.add_up(own.vector.data() + part.first, sums_at(pass.sync, part.first))) return;
    const Chunk chunk{.kind = ChunkKind::gathered,
                      .wish = stronger(pass.wish, own.wish),
                      .sync = pass.sync,
                      .first = part.first};
    const Circle& circle = circle_of(pass.sync);
    for (std::size_t step = 1; step < circle.count(); ++step)
        send_sum(circle.after(step), bucket, chunk, part.count);
    summed(bucket, pass, part.count, chunk.wish);
}

void ElasticRing::add_own(std::size_t bucket, const Chunk& chunk, std::size_t count) {
    const Contribution& own = *states_[bucket].own;
    float* const sum = sums_at(chunk.sync, chunk.first);
    const float* const values = own.vector.data() + chunk.first;
    for (std::size_t k = 0; k < count; ++k) sum[k] += values[k];

    const Circle& circle = circle_of(chunk.sync);
    Chunk passed = chunk;
    passed.wish = stronger(chunk.wish, own.wish);
    const std::size_t segment = part_at(buckets_[bucket], chunk.first, circle.count());
    const bool whole = circle.hops(segment) == circle.count() - 1;
    if (whole) passed.kind = ChunkKind::gathered;
    send_sum(circle.successor(), bucket, passed, count);
    if (whole) summed(bucket, pass_of(bucket, chunk.sync), count, passed.wish);
}

void ElasticRing::summed(std::size_t bucket, Pass& pass, std::size_t count, const Wish& wish) {
    pass.summed += count;
    pass.wish = stronger(pass.wish, wish);
    if (pass.summed < buckets_[bucket].count) return;
    State& state = states_[bucket];
    AKO_ASSERT(pass.sync == state.held + 1, "sync " + std::to_string(pass.sync));
    state.held = pass.sync;
    board_.complete(bucket, pass.sync, {pass.wish, 0, 0, pass.contributors});
    begin_pass(bucket);
    unblock();
}

// ---- sending

std::optional<std::uint64_t> ElasticRing::parity_of(const float* values) const {
    for (const std::uint64_t parity : {0U, 1U}) {
        const std::vector<float>& sums = sums_[parity];
        if (!std::less<>()(values, sums.data()) && std::less<>()(values, sums.data() + sums.size()))
            return parity;
    }
    return std::nullopt;
}

void ElasticRing::send_own(PeerIndex to, const Contribution& own, Range range) {
    const Chunk chunk{.kind = ChunkKind::reduced,
                      .wish = own.wish,
                      .sync = own.sync,
                      .first = range.first,
                      .epoch = epoch_};
    queues_[to].push({chunk, own.bucket, range.count, own.vector.data() + range.first});
    if (going_) transport_.wake(to);
}

void ElasticRing::send_sum(PeerIndex to, std::size_t bucket, const Chunk& chunk,
                           std::size_t count) {
    Chunk sent = chunk;
    sent.epoch = epoch_;
    pass_of(bucket, chunk.sync).busy += count;
    queues_[to].push({sent, bucket, count, sums_at(chunk.sync, chunk.first)});
    if (going_) transport_.wake(to);
}

std::optional<OutFrame> ElasticRing::next(PeerIndex peer, std::size_t payload_bytes_max) {
    if (!going_) return std::nullopt;
    // A newcomer adds nothing to a sum before it has the state.
    if (auto frame = next_of_state(peer, payload_bytes_max)) return frame;
    const auto chunk = queues_[peer].pop(elements_within(payload_bytes_max));
    if (!chunk) return std::nullopt;
    OutFrame frame{chunk->header, payload_of({chunk->values, chunk->count}), {}};
    if (const auto parity = parity_of(chunk->values))
        frame.keeps_alive =
            BufferRef([this, parity = *parity, bucket = chunk->bucket, count = chunk->count]()
                          AKO_NETWORK_THREAD { release(bucket, parity, count); });
    return frame;
}

bool ElasticRing::owes(PeerIndex peer) const {
    const std::vector<std::size_t>& waiting = serving_[peer].buckets;
    return going_ && std::any_of(waiting.begin(), waiting.end(),
                                 [this](std::size_t bucket) AKO_NETWORK_THREAD {
                                     return states_[bucket].consumed == entry_sync_;
                                 });
}

// No BufferRef: it does not change before the newcomer has all of it, or the epoch ends.
std::optional<OutFrame> ElasticRing::next_of_state(PeerIndex peer, std::size_t payload_bytes_max) {
    Serving& serving = serving_[peer];
    if (serving.sent == 0) {  // the first that the compute thread is done with
        const auto settled = [this](std::size_t bucket) AKO_NETWORK_THREAD {
            return states_[bucket].consumed == entry_sync_;
        };
        const auto found = std::find_if(serving.buckets.rbegin(), serving.buckets.rend(), settled);
        if (found == serving.buckets.rend()) return std::nullopt;
        std::iter_swap(found, serving.buckets.rbegin());
    }
    const Range range = buckets_[serving.buckets.back()];
    const bool velocity = serving.sent >= range.count;
    const std::size_t done = velocity ? serving.sent - range.count : serving.sent;
    const std::size_t count =
        std::min(range.count - done, std::max(elements_within(payload_bytes_max), count_min));
    const std::span<const float> vector = velocity ? state_.velocity : state_.parameters;
    const Chunk chunk{.kind = velocity ? ChunkKind::velocity : ChunkKind::parameters,
                      .sync = entry_sync_,
                      .first = range.first + done,
                      .epoch = epoch_};
    serving.sent += count;
    const std::size_t vectors = state_.velocity.empty() ? 1 : 2;
    if (serving.sent == vectors * range.count) {
        serving.buckets.pop_back();
        serving.sent = 0;
    }
    return OutFrame{chunk, payload_of(vector.subspan(chunk.first, count)), {}};
}

}  // namespace ako
