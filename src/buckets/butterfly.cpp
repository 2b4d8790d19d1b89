// See butterfly.h.
#include "src/buckets/butterfly.h"

#include <algorithm>
#include <cstddef>

namespace ako {

Butterfly::Butterfly(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
                     BucketBoard& board, Transport& transport)
    : AllReduceProtocol(buckets, self, peer_count, board, transport),
      steps_(self, peer_count),
      states_(buckets.count(), {0, std::vector<std::size_t>(2 * steps_.count())}),
      aside_(buckets.count()) {}

void Butterfly::clear(std::size_t bucket) {
    State& state = states_[bucket];
    state.stage = 0;
    std::fill(state.come.begin(), state.come.end(), 0);
}

// ---- the stages

std::size_t Butterfly::stage_of(PeerIndex partner, ChunkKind kind) const {
    const std::size_t step = steps_.with(partner).value();
    return kind == ChunkKind::reduced ? step : stages() - 1 - step;
}

Range Butterfly::incoming(std::size_t stage, std::size_t bucket) const {
    const std::size_t step = step_of(stage);
    return halves(stage) ? steps_.keeps(step, buckets_[bucket])
                         : steps_.gives(step, buckets_[bucket]);
}

Range Butterfly::outgoing(std::size_t stage, std::size_t bucket) const {
    const std::size_t step = step_of(stage);
    return halves(stage) ? steps_.gives(step, buckets_[bucket])
                         : steps_.keeps(step, buckets_[bucket]);
}

void Butterfly::begin(std::size_t bucket) {
    send_stage(bucket);
    go_on(bucket);
}

void Butterfly::go_on(std::size_t bucket) {
    State& state = states_[bucket];
    while (state.come[state.stage] == incoming(state.stage, bucket).count) {
        if (halves(state.stage)) add(state.stage, bucket);
        if (++state.stage == stages()) return complete(bucket);
        send_stage(bucket);
    }
}

// What the first step gives nobody's values are added to yet.
void Butterfly::send_stage(std::size_t bucket) {
    const Sync& sync = syncs_[bucket];
    const std::size_t stage = states_[bucket].stage;
    const Range range = outgoing(stage, bucket);
    const Chunk chunk{.kind = halves(stage) ? ChunkKind::reduced : ChunkKind::gathered,
                      .wish = sync.wish,
                      .sync = sync.number,
                      .first = range.first};
    const float* const values = stage == 0 ? sync.own->vector.data() : sums_.data();
    send(steps_.partner(step_of(stage)), bucket, chunk, range.count, values + range.first);
}

void Butterfly::add(std::size_t step, std::size_t bucket) {
    const Range range = steps_.keeps(step, buckets_[bucket]);
    const float* const values =
        step == 0 ? syncs_[bucket].own->vector.data() + range.first : aside(step, bucket).data();
    float* const sums = sums_.data() + range.first;
    for (std::size_t k = 0; k < range.count; ++k) sums[k] += values[k];
}

std::span<float> Butterfly::aside(std::size_t step, std::size_t bucket) {
    std::size_t first = 0, end = 0, all = 0;
    for (std::size_t other = 1; other < steps_.count(); ++other) {
        all += steps_.keeps(other, buckets_[bucket]).count;
        if (other < step) first = all;
        if (other == step) end = all;
    }
    aside_[bucket].resize(all);
    return std::span(aside_[bucket]).subspan(first, end - first);
}

// ---- receiving

std::optional<std::string> Butterfly::refuse_of(std::size_t bucket, bool now, PeerIndex peer,
                                                const Chunk& chunk, std::size_t count) const {
    if (!partner(peer)) return "a Chunk from a peer that is no partner";
    const State& state = states_[bucket];
    const std::size_t stage = stage_of(peer, chunk.kind);
    // Whole sums come back of what this peer has given away, with its own values in it.
    if (!halves(stage) && (!now || !syncs_[bucket].own || state.stage < step_of(stage)))
        return "Chunk of a whole sum before this peer gave its own values";
    const Range range = incoming(stage, bucket);
    if (chunk.first < range.first || chunk.first + count > range.first + range.count)
        return "Chunk of a part that is not exchanged with this peer";
    // The chunks of a stage are sent in their order.
    const std::size_t due = range.first + (now ? state.come[stage] : 0);
    if (chunk.first < due) return "Chunk sent twice";
    if (chunk.first > due)
        return "Chunk from element " + std::to_string(chunk.first) + " where " +
               std::to_string(due) + " is due";
    return std::nullopt;
}

std::span<float> Butterfly::memory_of(std::size_t bucket, PeerIndex peer, const Chunk& chunk,
                                      std::size_t count) {
    const std::size_t stage = stage_of(peer, chunk.kind);
    if (stage == 0 || !halves(stage)) return std::span(sums_).subspan(chunk.first, count);
    return aside(stage, bucket).subspan(chunk.first - incoming(stage, bucket).first, count);
}

void Butterfly::arrived(PeerIndex peer, const Chunk& chunk, std::size_t count) {
    const std::size_t bucket = buckets_.at(chunk.first);
    Sync& sync = syncs_[bucket];
    sync.wish = stronger(sync.wish, chunk.wish);
    states_[bucket].come[stage_of(peer, chunk.kind)] += count;
    if (sync.own) go_on(bucket);
}

}  // namespace ako
