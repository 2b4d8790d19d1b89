#include "src/buckets/bucket_board.h"

namespace ako {

void BucketBoard::restore(std::shared_ptr<const Checkpoint> from) {
    const MutexLock lock(mutex_);
    unseen_.restored = std::move(from);
}

void BucketBoard::contribute(const Contribution& contribution) {
    const MutexLock lock(mutex_);
    unseen_.contributions.push_back(contribution);
}

void BucketBoard::consume(std::size_t bucket, std::uint64_t sync) {
    const MutexLock lock(mutex_);
    unseen_.consumed.emplace_back(bucket, sync);
}

std::optional<SyncSummary> BucketBoard::completed(std::size_t bucket, std::uint64_t sync) const {
    const MutexLock lock(mutex_);
    const Complete& newest = completed_[bucket];
    if (newest.sync < sync) return std::nullopt;
    return newest.summary;
}

bool BucketBoard::final_is_here() const {
    const MutexLock lock(mutex_);
    return final_is_here_;
}

Time BucketBoard::newest_sign_at() const {
    const MutexLock lock(mutex_);
    return newest_sign_at_;
}

BucketBoard::Unseen BucketBoard::take() {
    const MutexLock lock(mutex_);
    return std::exchange(unseen_, {});
}

void BucketBoard::complete(std::size_t bucket, std::uint64_t sync, const SyncSummary& summary) {
    {
        const MutexLock lock(mutex_);
        completed_[bucket] = {sync, summary};
    }
    wake_();
}

void BucketBoard::complete_final() {
    {
        const MutexLock lock(mutex_);
        final_is_here_ = true;
    }
    wake_();
}

void BucketBoard::sign_came(Time at) {
    const MutexLock lock(mutex_);
    newest_sign_at_ = at;
}

}  // namespace ako
