// See ring_pass.h.
#include "src/buckets/ring_pass.h"

#include <algorithm>

#include "src/buckets/buckets.h"

namespace ako {

void RingPass::clear(const RingBucket& of, float* sums) {
    const PeerSet made_for = part_of_set_;
    drop();
    of_ = of;
    sums_ = sums;
    if (!of.straight) return;
    const Circle& circle = *of.circle;
    gathered_from_.resize(circle.count());
    part_of_set_ = circle.set();
    if (made_for == part_of_set_)
        part_.clear();
    else
        part_ =
            PartSum(part(circle.place()), static_cast<PeerIndex>(circle.place()), circle.count());
}

void RingPass::drop() {
    PartSum part = std::move(part_);
    *this = {};
    part_ = std::move(part);
}

// ---- what becomes of values

bool RingPass::begin(const Contribution& own, Outlet& outlet) {
    own_ = own;
    wish_ = stronger(wish_, own.wish);
    const Circle& circle = *of_.circle;
    if (circle.count() == 1) {
        std::copy_n(own.vector.data() + of_.range.first, of_.range.count, sums_ + of_.range.first);
        return add_whole(of_.range.count, own.wish);
    }
    if (of_.straight) return begin_straight(outlet);
    send_own(circle.successor(), part(circle.place()), outlet);
    bool whole = false;
    for (const auto& [chunk, count] : std::exchange(early_, {}))
        whole = add_own(chunk, count, outlet);
    return whole;
}

// Everybody's part straight to its owner; the one after this peer first, so that not all send to
// the same.
bool RingPass::begin_straight(Outlet& outlet) {
    const Circle& circle = *of_.circle;
    for (std::size_t step = 1; step < circle.count(); ++step) {
        const PeerIndex to = circle.after(step);
        send_own(to, part(circle.place_of(to)), outlet);
    }
    return sum_part(outlet);
}

void RingPass::send_own(PeerIndex to, Range range, Outlet& outlet) {
    const Chunk chunk{
        .kind = ChunkKind::reduced, .wish = own_->wish, .sync = own_->sync, .first = range.first};
    outlet.send(to, of_.index, chunk, range.count, own_->vector.data() + range.first);
}

// This peer's part of a bucket that goes straight, if everything is here.
bool RingPass::sum_part(Outlet& outlet) {
    if (!begun()) return false;
    const Range range = part_.part();
    float* const values = sums_ + range.first;
    if (!part_.add_up(own_->vector.data() + range.first, values)) return false;
    const Chunk chunk{
        .kind = ChunkKind::gathered, .wish = wish_, .sync = own_->sync, .first = range.first};
    for (std::size_t step = 1; step < of_.circle->count(); ++step)
        outlet.send(of_.circle->after(step), of_.index, chunk, range.count, values);
    return add_whole(range.count, chunk.wish);
}

// A partial sum is here and so are this peer's own values.
bool RingPass::add_own(const Chunk& chunk, std::size_t count, Outlet& outlet) {
    float* const sum = sums_ + chunk.first;
    const float* const values = own_->vector.data() + chunk.first;
    for (std::size_t k = 0; k < count; ++k) sum[k] += values[k];

    const Circle& circle = *of_.circle;
    Chunk passed = chunk;
    passed.wish = stronger(chunk.wish, own_->wish);
    const std::size_t segment = part_at(of_.range, chunk.first, circle.count());
    const bool whole = circle.hops(segment) == circle.count() - 1;
    if (whole) passed.kind = ChunkKind::gathered;
    outlet.send(circle.successor(), of_.index, passed, count, sum);
    return whole && add_whole(count, passed.wish);
}

bool RingPass::add_whole(std::size_t count, const Wish& wish) {
    summed_ += count;
    wish_ = stronger(wish_, wish);
    return summed_ == of_.range.count;
}

bool RingPass::arrived(PeerIndex peer, const Chunk& chunk, std::size_t count, Outlet& outlet) {
    const Circle& circle = *of_.circle;
    const bool reduced = chunk.kind == ChunkKind::reduced;
    (reduced ? reduced_ : gathered_) += count;
    if (of_.straight) {
        const std::size_t from = circle.place_of(peer);
        if (!reduced) {
            gathered_from_[from] += count;
            return add_whole(count, chunk.wish);
        }
        wish_ = stronger(wish_, chunk.wish);
        part_.arrived(static_cast<PeerIndex>(from), count);
        return sum_part(outlet);
    }
    if (reduced) {
        if (begun()) return add_own(chunk, count, outlet);
        early_.emplace_back(chunk, count);
        return false;
    }
    // The successor has it already if the sum was completed there.
    const std::size_t segment = part_at(of_.range, chunk.first, circle.count());
    if (circle.hops(segment) != circle.count() - 2)
        outlet.send(circle.successor(), of_.index, chunk, count, sums_ + chunk.first);
    return add_whole(count, chunk.wish);
}

std::span<float> RingPass::memory(PeerIndex peer, const Chunk& chunk, std::size_t count) {
    if (!of_.straight || chunk.kind != ChunkKind::reduced) return {sums_ + chunk.first, count};
    return part_.memory(static_cast<PeerIndex>(of_.circle->place_of(peer)), {chunk.first, count});
}

// ---- what cannot be meant

std::optional<std::string> RingPass::refuse(const RingBucket& of, bool now, PeerIndex peer,
                                            const Chunk& chunk, std::size_t count) const {
    const bool reduced = chunk.kind == ChunkKind::reduced;
    if (!reduced && !(now && begun()))
        return "Chunk of a whole sum before this peer gave its own values";
    if (of.straight) return refuse_straight(of, now, peer, chunk, count);
    const Circle& circle = *of.circle;
    if (peer != circle.predecessor()) return "a Chunk from a peer that is no predecessor";
    const std::size_t segment = part_at(of.range, chunk.first, circle.count());
    const Range whole = part_of(of.range, segment, circle.count());
    if (chunk.first + count > whole.first + whole.count) return "Chunk of more than one segment";
    if (circle.hops(segment) == (reduced ? 0 : circle.count() - 1))
        return "Chunk that has gone round the ring already";
    // The segment that begins here never comes as a partial sum, nor the one that becomes whole
    // here as a whole one.
    const std::size_t here = (circle.place() + (reduced ? 0 : 1)) % circle.count();
    const std::size_t due = of.range.count - part_of(of.range, here, circle.count()).count;
    const std::size_t come = !now ? 0 : reduced ? reduced_ : gathered_;
    if (come + count > due) return "Chunk sent twice";
    return std::nullopt;
}

std::optional<std::string> RingPass::refuse_straight(const RingBucket& of, bool now, PeerIndex peer,
                                                     const Chunk& chunk, std::size_t count) const {
    const Circle& circle = *of.circle;
    const bool reduced = chunk.kind == ChunkKind::reduced;
    const std::size_t from = circle.place_of(peer);
    const Range range = part_of(of.range, reduced ? circle.place() : from, circle.count());
    if (chunk.first < range.first || chunk.first + count > range.first + range.count)
        return "Chunk of a part that is another peer's";
    // Each peer is counted by itself: what comes of another at the same time is not counted yet.
    const std::size_t come = !now      ? 0
                             : reduced ? part_.arrived_from(static_cast<PeerIndex>(from))
                                       : gathered_from_[from];
    if (come + count > range.count) return "Chunk sent twice";
    return std::nullopt;
}

}  // namespace ako
