// Which buckets of a round are ready: back-propagation finishes the gradient in ranges of its own,
// and a bucket goes out when all of it is there. Compute thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "ako/assert.h"
#include "ako/threads.h"
#include "src/buckets/buckets.h"

namespace ako {

class ReadyBuckets {
  public:
    /// `buckets` outlives this.
    explicit ReadyBuckets(const Buckets& buckets) : buckets_(buckets), elements_(buckets.count()) {}

    /// A round begins: nothing is ready.
    void clear() { std::fill(elements_.begin(), elements_.end(), 0); }
    /// This range is; calls `complete` with each bucket that is whole with it.
    template <class Complete>
    void add(Range range, const Complete& complete) AKO_COMPUTE_THREAD {
        const Buckets::Span span = buckets_.overlapping(range);
        for (std::size_t bucket = span.first; bucket < span.end; ++bucket) {
            elements_[bucket] += overlap(bucket, range);
            if (elements_[bucket] == buckets_[bucket].count) complete(bucket);
        }
    }
    /// Layers that say nothing before the end of the round have nothing ready, others all.
    bool is_whole(std::size_t bucket) const {
        if (elements_[bucket] == buckets_[bucket].count) return true;
        AKO_ASSERT(is_untouched(bucket), "half of a bucket is ready");
        return false;
    }
    /// Would it be whole with this range?
    bool is_whole_with(std::size_t bucket, Range range) const {
        return elements_[bucket] < buckets_[bucket].count &&
               elements_[bucket] + overlap(bucket, range) == buckets_[bucket].count;
    }
    bool is_untouched(std::size_t bucket) const { return elements_[bucket] == 0; }

  private:
    /// Elements of the bucket that are in the range, which overlaps it.
    std::size_t overlap(std::size_t bucket, Range range) const {
        const Range& whole = buckets_[bucket];
        return std::min(whole.first + whole.count, range.first + range.count) -
               std::max(whole.first, range.first);
    }

    const Buckets& buckets_;
    std::vector<std::size_t> elements_;  ///< [bucket], of this round
};

}  // namespace ako
