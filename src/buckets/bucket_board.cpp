#include "src/buckets/bucket_board.h"

namespace ako {

void BucketBoard::contribute(const Contribution& contribution) {
    const MutexLock lock(mutex_);
    mail_.contributions.push_back(contribution);
}

void BucketBoard::consume(std::size_t bucket, std::uint64_t exchange) {
    const MutexLock lock(mutex_);
    mail_.consumed.emplace_back(bucket, exchange);
}

std::optional<Exchanged> BucketBoard::completed(std::size_t bucket, std::uint64_t exchange) const {
    const MutexLock lock(mutex_);
    const Complete& newest = completed_[bucket];
    if (newest.exchange < exchange) return std::nullopt;
    return newest.exchanged;
}

bool BucketBoard::final_is_here() const {
    const MutexLock lock(mutex_);
    return final_is_here_;
}

Time BucketBoard::newest_sign_at() const {
    const MutexLock lock(mutex_);
    return newest_sign_at_;
}

BucketBoard::Mail BucketBoard::take() {
    const MutexLock lock(mutex_);
    return std::exchange(mail_, {});
}

void BucketBoard::complete(std::size_t bucket, std::uint64_t exchange, const Exchanged& exchanged) {
    {
        const MutexLock lock(mutex_);
        completed_[bucket] = {exchange, exchanged};
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
