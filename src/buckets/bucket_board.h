// The board between the two halves of a mode that exchanges buckets: which buckets are ready, and
// which are complete. State only, so that nothing queues without a limit. Both threads; every
// member is protected by the mutex, which is held for copies of small values only. Memory that one
// side names here belongs to the other until it is named back: a contribution until its bucket is
// complete, a result until it is consumed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ako/checkpoint.h"
#include "ako/frame.h"
#include "ako/threads.h"
#include "ako/types.h"

namespace ako {

/// What came with the result of a bucket.
struct SyncSummary {
    Wish wish;                       ///< of all who contributed
    std::uint64_t rounds_total = 0;  ///< of all workers, with this one; 0 = not said
    std::uint32_t workers = 0;       ///< who contributed; 0 = not said
    PeerSet contributors = 0;        ///< elastic ring: whose gradients are in the sum

    void merge(const SyncSummary& other) {
        wish = stronger(wish, other.wish);
        rounds_total = std::max(rounds_total, other.rounds_total);
        workers = std::max(workers, other.workers);
        contributors |= other.contributors;
    }
    /// Takes in what came later: of the workers and learners only the newest numbers count.
    void follow(const SyncSummary& later) {
        const std::uint32_t newest = later.workers != 0 ? later.workers : workers;
        const PeerCounts by = later.learners() != 0 ? later.wish.learners : wish.learners;
        merge(later);
        workers = newest;
        wish.learners = by;
    }
    /// So many of all peers have made it; 0 = not said.
    std::size_t learners() const {
        return std::accumulate(wish.learners.begin(), wish.learners.end(), std::size_t{0});
    }
};

/// A bucket of this peer that is ready to be exchanged.
struct Contribution {
    std::size_t bucket = 0;
    std::uint64_t sync = 0;         ///< from 1
    std::span<const float> vector;  ///< the whole flat vector, of which the bucket is meant
    Wish wish;                      ///< this peer's
};

class BucketBoard {
  public:
    /// What the traffic half has not seen yet.
    struct Unseen {
        std::vector<Contribution> contributions;
        std::vector<std::pair<std::size_t, std::uint64_t>> consumed;  ///< bucket, sync
        std::shared_ptr<const Checkpoint> restored;  ///< to be gone on from; before contributions
    };

    /// `wake`: called after anything that the compute half may be waiting for.
    BucketBoard(std::size_t bucket_count, std::function<void()> wake)
        : wake_(std::move(wake)), completed_(bucket_count) {}

    // Compute thread.
    /// Goes on from this; before the first contribution.
    void restore(std::shared_ptr<const Checkpoint> from) AKO_COMPUTE_THREAD;
    void contribute(const Contribution& contribution) AKO_COMPUTE_THREAD;
    /// The result of this sync has been used: its memory is free again.
    void consume(std::size_t bucket, std::uint64_t sync) AKO_COMPUTE_THREAD;
    /// Nothing while the sync of this bucket is under way.
    std::optional<SyncSummary> completed(std::size_t bucket,
                                         std::uint64_t sync) const AKO_COMPUTE_THREAD;
    /// The parameters after everybody's last round are here (parameter server).
    bool final_is_here() const AKO_COMPUTE_THREAD;

    /// When it last showed that the others get on; 0 before the first time. Any thread.
    Time newest_sign_at() const;

    // Network thread.
    Unseen take() AKO_NETWORK_THREAD;
    void complete(std::size_t bucket, std::uint64_t sync,
                  const SyncSummary& summary) AKO_NETWORK_THREAD;
    void complete_final() AKO_NETWORK_THREAD;
    /// A chunk came, or a peer has made a round that chunks wait for.
    void sign_came(Time at) AKO_NETWORK_THREAD;

  private:
    struct Complete {
        std::uint64_t sync = 0;
        SyncSummary summary;
    };

    const std::function<void()> wake_;

    mutable Mutex mutex_;
    Unseen unseen_ AKO_GUARDED_BY(mutex_);
    std::vector<Complete> completed_ AKO_GUARDED_BY(mutex_);  ///< [bucket], the newest
    Time newest_sign_at_ AKO_GUARDED_BY(mutex_) = Time{0};
    bool final_is_here_ AKO_GUARDED_BY(mutex_) = false;
};

}  // namespace ako
