// Which buckets of a round are whole, and of which sync the result of each is in use: what the
// compute thread knows of its BucketBoard, whatever is summed. Compute thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ako/assert.h"
#include "ako/threads.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/buckets.h"
#include "src/buckets/ready_buckets.h"

namespace ako {

class Syncs {
  public:
    /// Both outlive this.
    Syncs(const Buckets& buckets, BucketBoard& board)
        : buckets_(buckets), board_(board), settled_(buckets.count()), ready_(buckets) {}

    /// What of the gradient of this round is there.
    ReadyBuckets& ready() { return ready_; }
    const ReadyBuckets& ready() const { return ready_; }

    /// The newest that was begun here.
    std::uint64_t newest() const { return newest_; }
    void begin(std::uint64_t sync) {
        newest_ = sync;
        settled_count_ = 0;
    }
    /// Gives this bucket of `vector` to the newest.
    void contribute(std::size_t bucket, std::span<const float> vector,
                    const Wish& wish) AKO_COMPUTE_THREAD {
        board_.contribute({bucket, newest_, vector, wish});
    }

    /// The newest of which the result of this bucket is in use.
    std::uint64_t settled(std::size_t bucket) const { return settled_[bucket]; }
    bool is_settled(std::size_t bucket) const { return settled_[bucket] == newest_; }
    bool are_settled(Range range) const {
        const Buckets::Span span = buckets_.overlapping(range);
        return std::all_of(settled_.begin() + static_cast<std::ptrdiff_t>(span.first),
                           settled_.begin() + static_cast<std::ptrdiff_t>(span.end),
                           [this](std::uint64_t sync) { return sync == newest_; });
    }
    /// Is the newest result of every bucket of this range here, in use or not?
    bool complete(Range range) const AKO_COMPUTE_THREAD {
        const Buckets::Span span = buckets_.overlapping(range);
        for (std::size_t bucket = span.first; bucket < span.end; ++bucket)
            if (!is_settled(bucket) && !board_.completed(bucket, newest_)) return false;
        return true;
    }
    /// Nothing: it is to be waited for.
    std::optional<SyncSummary> completed(std::size_t bucket,
                                         std::uint64_t sync) const AKO_COMPUTE_THREAD {
        return board_.completed(bucket, sync);
    }
    /// The result of this bucket is used: its memory is free again.
    void settle(std::size_t bucket, std::uint64_t sync) AKO_COMPUTE_THREAD {
        board_.consume(bucket, sync);
        settled_[bucket] = sync;
        ++settled_count_;
    }
    /// Buckets whose newest result is in use.
    std::size_t settled_count() const { return settled_count_; }
    bool all_settled() const { return settled_count_ >= buckets_.count(); }
    /// All is as after this one.
    void go_on_after(std::uint64_t sync) {
        newest_ = sync;
        std::fill(settled_.begin(), settled_.end(), sync);
        settled_count_ = buckets_.count();
    }
    /// REQUIRES: parameters of this range are used only once the result of `sync` is.
    void assert_awaited(Range range, std::uint64_t sync) const {
        const Buckets::Span span = buckets_.overlapping(range);
        for (std::size_t bucket = span.first; bucket < span.end; ++bucket)
            AKO_ASSERT(settled_[bucket] == sync, "parameters were used before they were awaited");
    }

  private:
    const Buckets& buckets_;
    BucketBoard& board_;
    std::uint64_t newest_ = 0;
    std::vector<std::uint64_t> settled_;  ///< [bucket], sync
    std::size_t settled_count_ = 0;
    ReadyBuckets ready_;
};

}  // namespace ako
