// See push_pull.h.
#include "src/buckets/push_pull.h"

#include <algorithm>
#include <cstddef>

#include "ako/assert.h"
#include "ako/payload.h"
#include "src/exchange/run_bounds.h"

namespace ako {

std::optional<std::size_t> PushPull::place_in(const std::vector<PeerIndex>& peers, PeerIndex peer) {
    const auto found = std::find(peers.begin(), peers.end(), peer);
    if (found == peers.end()) return std::nullopt;
    return static_cast<std::size_t>(found - peers.begin());
}

PushPull::PushPull(const ModeSettings& settings, const Buckets& buckets,
                   std::span<const float> initial, BucketBoard& board, Transport& transport)
    : buckets_(buckets),
      self_(settings.self),
      workers_(settings.workers()),
      servers_(settings.servers()),
      slices_(buckets, servers_.size()),
      rounds_total_max_(workers_.size() * RunBounds::of(settings).round_max),
      board_(board),
      transport_(transport),
      queues_(settings.peer_count()),
      pulls_(buckets.count()),
      pulled_of_(slices_.count()),
      final_of_(slices_.count()),
      apart_(settings.peer_count()) {
    if (works()) parameters_.assign(initial.begin(), initial.end());
    const auto server = server_of(self_);
    if (!server) return;
    keeper_ = std::make_unique<ParameterKeeper>(settings, slices_, *server, initial,
                                                [this](std::size_t worker, std::size_t slice)
                                                    AKO_NETWORK_THREAD { answer(worker, slice); });
    pushes_.assign(workers_.size(), std::vector<Push>(slices_.count()));
}

void PushPull::send(PeerIndex peer, const Chunk& chunk, std::size_t count, const float* values) {
    queues_[peer].push({chunk, buckets_.at(chunk.first), count, values});
    transport_.wake(peer);
}

// ---- the worker

void PushPull::contributed(const Contribution& contribution) {
    Pull& pull = pulls_[contribution.bucket];
    AKO_ASSERT(contribution.sync == pull.sync + 1,
               "sync " + std::to_string(contribution.sync) + " after " + std::to_string(pull.sync));
    pull = {contribution.sync, 0, {}};
    const std::size_t end = slices_.first_of(contribution.bucket + 1);
    for (std::size_t slice = slices_.first_of(contribution.bucket); slice < end; ++slice) {
        const Range range = slices_[slice].range;
        pulled_of_[slice] = 0;
        const float* const values = contribution.vector.data() + range.first;
        const PeerIndex server = servers_[slices_[slice].server];
        const Chunk chunk{.kind = ChunkKind::pushed,
                          .wish = contribution.wish,
                          .sync = contribution.sync,
                          .first = range.first};
        if (server == self_)
            keeper_->pushed(*worker_of(self_), slice, chunk.sync, values, chunk.wish);
        else
            send(server, chunk, range.count, values);
    }
    if (keeper_) send_final();
}

void PushPull::pulled(std::size_t bucket, std::size_t count, const SyncSummary& summary) {
    Pull& pull = pulls_[bucket];
    pull.elements += count;
    pull.summary.merge(summary);
    if (pull.elements == buckets_[bucket].count) board_.complete(bucket, pull.sync, pull.summary);
}

void PushPull::final_arrived(std::size_t count) {
    final_elements_ += count;
    if (final_elements_ == parameters_.size()) board_.complete_final();
}

// ---- the server

void PushPull::copy_here(std::size_t slice) {
    const std::span<const float> values = keeper_->parameters(slice);
    std::copy(values.begin(), values.end(),
              parameters_.begin() + static_cast<std::ptrdiff_t>(slices_[slice].range.first));
}

void PushPull::answer(std::size_t worker, std::size_t slice) {
    const Range range = slices_[slice].range;
    const SyncSummary& summary = keeper_->summary(slice);
    if (workers_[worker] == self_) {
        copy_here(slice);
        return pulled(slices_[slice].bucket, range.count, summary);
    }
    const Chunk chunk{.kind = ChunkKind::pulled,
                      .wish = summary.wish,
                      .workers = summary.workers,
                      .sync = keeper_->clock(worker, slice),
                      .first = range.first,
                      .rounds_total = summary.rounds_total};
    send(workers_[worker], chunk, range.count, keeper_->parameters(slice).data());
}

void PushPull::push_arrived(std::size_t worker, const Chunk& chunk, std::size_t count) {
    const std::size_t slice = slices_.at(chunk.first);
    Push& push = pushes_[worker][slice];
    if (push.round != chunk.sync) push = {chunk.sync, 0, {}};
    push.elements += count;
    push.wish = stronger(push.wish, chunk.wish);
    if (push.elements < slices_[slice].range.count) return;
    keeper_->pushed(worker, slice, push.round, keeper_->room_for_push(worker, slice).data(),
                    push.wish);
    send_final();
}

void PushPull::finished(PeerIndex peer, Round final_round) {
    if (peer == self_) finished_ = true;
    const auto worker = worker_of(peer);
    if (!keeper_ || !worker) return;
    keeper_->finished(*worker, final_round);
    send_final();
}

void PushPull::session_over(PeerIndex peer) {
    queues_[peer].clear();
    const auto worker = worker_of(peer);
    if (!keeper_ || !worker) return;
    keeper_->worker_over(*worker);
    send_final();
}

void PushPull::send_final() {
    if (final_sent_ || !keeper_->final_is_here()) return;
    final_sent_ = true;
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
        if (keeper_->is_over(worker)) continue;
        for (std::size_t slice = 0; slice < slices_.count(); ++slice) {
            if (!keeper_->serves(slice)) continue;
            const Range range = slices_[slice].range;
            if (workers_[worker] == self_) {
                copy_here(slice);
                final_arrived(range.count);
                continue;
            }
            // Behind any answer that still waits: that would be older.
            const Chunk chunk{.kind = ChunkKind::final,
                              .sync = UINT64_MAX,
                              .first = range.first,
                              .rounds_total = keeper_->summary(slice).rounds_total};
            send(workers_[worker], chunk, range.count, keeper_->parameters(slice).data());
        }
    }
}

// ---- the wire

std::optional<OutFrame> PushPull::next(PeerIndex peer, std::size_t payload_bytes_max) {
    const auto chunk = queues_[peer].pop(elements_within(payload_bytes_max));
    if (!chunk) return std::nullopt;
    return OutFrame{chunk->header, payload_of({chunk->values, chunk->count}), {}};
}

std::optional<std::string> PushPull::refuse(PeerIndex peer, const Chunk& chunk,
                                            std::size_t count) const {
    if (count == 0 || chunk.first >= buckets_.parameter_count())
        return "Chunk from " + std::to_string(chunk.first) + " is outside the model";
    const std::size_t slice = slices_.at(chunk.first);
    const Range range = slices_[slice].range;
    if (count > range.first + range.count - chunk.first) return "Chunk of more than one slice";
    if (chunk.rounds_total > rounds_total_max_ || chunk.workers > workers_.size())
        return "Chunk.rounds_total is " + std::to_string(chunk.rounds_total) + " of " +
               std::to_string(chunk.workers) + " workers in a run of at most " +
               std::to_string(rounds_total_max_) + " of " + std::to_string(workers_.size());
    if (chunk.kind == ChunkKind::pushed) {
        const auto worker = worker_of(peer);
        if (!keeper_ || !worker || !keeper_->serves(slice))
            return "Chunk pushed to a peer that does not serve it";
        const std::uint64_t clock = keeper_->clock(*worker, slice);
        if (chunk.sync != clock + 1)
            return "Chunk pushed for round " + std::to_string(chunk.sync) + " after " +
                   std::to_string(clock);
        if (keeper_->unanswered(*worker, slice)) return "Chunk pushed before the last was answered";
        if (keeper_->has_ended(*worker, chunk.sync)) return "Chunk pushed after the last round";
        const Push& push = pushes_[*worker][slice];
        const std::size_t before = push.round == chunk.sync ? push.elements : 0;
        if (before + count > range.count) return "Chunk pushed twice";
        return std::nullopt;
    }
    if (server_of(peer) != slices_[slice].server || !works() || peer == self_)
        return "Chunk of parameters from a peer that does not serve them";
    if (chunk.kind == ChunkKind::final) {
        if (!finished_) return "final Chunk before the last round";
        if (final_of_[slice] + count > range.count) return "final Chunk sent twice";
        return std::nullopt;
    }
    if (chunk.kind != ChunkKind::pulled) return "a Chunk that no parameter server sends";
    const Pull& pull = pulls_[slices_[slice].bucket];
    if (chunk.sync == 0 || chunk.sync != pull.sync || pulled_of_[slice] + count > range.count)
        return "Chunk of parameters that were not asked for";
    return std::nullopt;
}

std::optional<std::span<float>> PushPull::reserve(PeerIndex peer, const Chunk& chunk,
                                                  std::size_t count) {
    apart_[peer].resize(keeps_apart(chunk) ? count : 0);
    if (!apart_[peer].empty()) return apart_[peer];
    if (chunk.kind != ChunkKind::pushed) return std::span(parameters_).subspan(chunk.first, count);
    const std::size_t slice = slices_.at(chunk.first);
    return keeper_->room_for_push(*worker_of(peer), slice)
        .subspan(chunk.first - slices_[slice].range.first, count);
}

void PushPull::arrived(PeerIndex peer, const Chunk& chunk, std::size_t count) {
    if (!apart_[peer].empty())
        std::copy(apart_[peer].begin(), apart_[peer].end(),
                  parameters_.begin() + static_cast<std::ptrdiff_t>(chunk.first));
    apart_[peer].clear();
    const std::size_t slice = slices_.at(chunk.first);
    switch (chunk.kind) {
        case ChunkKind::pushed:
            return push_arrived(*worker_of(peer), chunk, count);
        case ChunkKind::final:
            final_of_[slice] += count;
            return final_arrived(count);
        default:
            pulled_of_[slice] += count;
            return pulled(slices_[slice].bucket, count,
                          {chunk.wish, chunk.rounds_total, chunk.workers});
    }
}

}  // namespace ako
