// See elastic_ring.h.
#include "src/buckets/elastic_ring.h"

#include <algorithm>
#include <utility>

#include "ako/payload.h"

namespace ako {
namespace {

// Places of destinations, in the lower half of their tickets; the upper is the epoch.
constexpr std::uint64_t dropped_place = 1;
constexpr std::uint64_t state_place = 2;
constexpr std::uint64_t first_pass_place = 3;

std::uint64_t place_in(std::uint64_t ticket) { return ticket & 0xffff'ffffU; }

}  // namespace

ElasticRing::ElasticRing(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
                         std::size_t straight_bytes_max, StateHandover::Memory state,
                         BucketBoard& board, Transport& transport)
    : buckets_(buckets),
      self_(self),
      blocked_(transport),
      queues_(self, peer_count, transport),
      sums_(buckets, self, straight_bytes_max, circles_, board, queues_, blocked_),
      handover_(buckets, state, sums_, queues_, blocked_) {}

// ---- epochs

void ElasticRing::drop() {
    begun_here_ = false;
    sums_.drop();
    handover_.drop();
    blocked_.unblock();
}

Holding ElasticRing::enter(std::uint32_t epoch) {
    queues_.enter(epoch);
    drop();
    Holding holding;
    holding.late = late_;
    if (!has_state_) return holding;
    holding.begun = begun_;
    holding.sums = sums_.held();
    return holding;
}

void ElasticRing::leave() {
    has_state_ = false;
    late_ = true;
    drop();
    sums_.forget_own();
}

void ElasticRing::begin(PeerSet members, const std::vector<Holding>& holdings) {
    circles_ = EpochCircles(members, holdings, self_);
    begun_here_ = true;
    if (circles_.old().has(self_)) {
        has_state_ = true;
        sums_.begin(holdings);
        handover_.give(circles_.begun(), circles_);
    } else {
        late_ = true;
        begun_ = circles_.begun();
        sums_.begin_after(begun_);
        handover_.take(begun_);
    }
}

std::optional<std::uint64_t> ElasticRing::asked_for() const {
    if (!begun_here_ || !has_state_ || circles_.newcomers() == 0) return std::nullopt;
    if (!circles_.old().has(self_)) return std::nullopt;
    return entry_sync();
}

// ---- of the compute half

void ElasticRing::contributed(const Contribution& contribution) {
    if (!has_state_) return;
    begun_ = std::max(begun_, contribution.sync);
    sums_.contributed(contribution);
}

void ElasticRing::consumed(std::size_t bucket, std::uint64_t sync) {
    if (!has_state_) return;
    sums_.consumed(bucket, sync);
    handover_.more_is_used();
}

// ---- sending

std::optional<OutFrame> ElasticRing::next(PeerIndex peer, std::size_t payload_bytes_max) {
    if (!queues_.going()) return std::nullopt;
    // A newcomer adds nothing to a sum before it has the state.
    if (auto frame = handover_.next(peer, payload_bytes_max)) return frame;
    const auto chunk = queues_.pop(peer, elements_within(payload_bytes_max));
    if (!chunk) return std::nullopt;
    OutFrame frame{chunk->header, payload_of({chunk->values, chunk->count}), {}};
    if (const auto parity = sums_.parity_of(chunk->values))
        frame.keeps_alive =
            BufferRef([this, parity = *parity, bucket = chunk->bucket, count = chunk->count]()
                          AKO_NETWORK_THREAD { sums_.release(bucket, parity, count); });
    return frame;
}

// ---- receiving

std::optional<std::string> ElasticRing::refuse(PeerIndex peer, const Chunk& chunk,
                                               std::size_t count) const {
    const std::size_t elements = buckets_.parameter_count();
    if (count == 0 || chunk.first >= elements || count > elements - chunk.first)
        return "Chunk of " + std::to_string(count) + " elements from " +
               std::to_string(chunk.first) + " is outside the model";
    const std::uint32_t epoch = queues_.epoch();
    if (chunk.epoch < epoch || (!begun_here_ && chunk.epoch == epoch && !has_state_))
        return std::nullopt;  // it is read and dropped
    if (chunk.epoch > epoch || !begun_here_ || !circles_.all().has(peer))
        return "Chunk of epoch " + std::to_string(chunk.epoch) + ", which has not begun here";
    const Range& range = buckets_[buckets_.at(chunk.first)];
    if (chunk.first + count > range.first + range.count) return "Chunk of more than one bucket";
    if (!StateHandover::is_of_state(chunk)) return sums_.refuse(peer, chunk, count);
    if (has_state_ || !handover_.lacks(chunk, count))
        return "Chunk of a state that nobody has asked for";
    return std::nullopt;
}

Destination ElasticRing::destination(std::uint64_t place, std::span<float> memory) const {
    return {payload_into(memory), std::uint64_t{queues_.epoch()} << 32 | place};
}

bool ElasticRing::is_of_now(const Destination& destination) const {
    return destination.ticket >> 32 == queues_.epoch() && begun_here_;
}

std::optional<Destination> ElasticRing::reserve(PeerIndex peer, const Chunk& chunk,
                                                std::size_t count) {
    if (chunk.epoch != queues_.epoch() || !begun_here_) {
        if (dropped_.empty()) dropped_.resize(elements_within(payload_bytes_limit));
        return destination(dropped_place, std::span(dropped_).first(count));
    }
    const bool state = StateHandover::is_of_state(chunk);
    const auto memory = state ? handover_.reserve(chunk, count) : sums_.reserve(peer, chunk, count);
    if (!memory) {
        blocked_.block(peer);
        return std::nullopt;
    }
    const std::uint64_t pass = 2 * buckets_.at(chunk.first) + chunk.sync % 2;
    return destination(state ? state_place : first_pass_place + pass, *memory);
}

void ElasticRing::arrived(PeerIndex peer, const Chunk& chunk, const Destination& destination,
                          std::size_t count) {
    if (is_of_now(destination)) {
        const std::uint64_t place = place_in(destination.ticket);
        if (place == state_place) handover_.arrived(count);
        if (place >= first_pass_place) sums_.arrived(peer, chunk, count);
    }
    abandoned(destination, count);
}

void ElasticRing::abandoned(const Destination& destination, std::size_t count) {
    const std::uint64_t place = place_in(destination.ticket);
    if (place == state_place) handover_.release(is_of_now(destination), count);
    if (place < first_pass_place) return;
    const std::uint64_t pass = place - first_pass_place;
    sums_.release(pass / 2, pass % 2, count);
}

}  // namespace ako
