#include "src/modes/bucket_board.h"

#include <utility>

namespace ako {

void BucketBoard::contribute(const Contribution& contribution) {
    const std::lock_guard lock(mutex_);
    mail_.contributions.push_back(contribution);
}

void BucketBoard::consume(std::size_t bucket, std::uint64_t exchange) {
    const std::lock_guard lock(mutex_);
    mail_.consumed.emplace_back(bucket, exchange);
}

std::optional<Exchanged> BucketBoard::completed(std::size_t bucket, std::uint64_t exchange) const {
    const std::lock_guard lock(mutex_);
    const Complete& newest = completed_[bucket];
    if (newest.exchange < exchange) return std::nullopt;
    return newest.exchanged;
}

void BucketBoard::post(Status status, bool urgent) {
    const std::lock_guard lock(mutex_);
    mail_.status = std::move(status);
    mail_.urgent |= urgent;
}

void BucketBoard::start() {
    const std::lock_guard lock(mutex_);
    mail_.started = true;
}

void BucketBoard::close() {
    const std::lock_guard lock(mutex_);
    mail_.closing = true;
}

std::vector<BucketBoard::Member> BucketBoard::members() const {
    const std::lock_guard lock(mutex_);
    return members_;
}

std::string BucketBoard::broken() const {
    const std::lock_guard lock(mutex_);
    return broken_;
}

bool BucketBoard::final_is_here() const {
    const std::lock_guard lock(mutex_);
    return final_is_here_;
}

Time BucketBoard::newest_sign_at() const {
    const std::lock_guard lock(mutex_);
    return newest_sign_at_;
}

void BucketBoard::sign_came(Time at) {
    const std::lock_guard lock(mutex_);
    newest_sign_at_ = at;
}

void BucketBoard::wait(Time for_at_most) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, for_at_most, [this] { return news_; });
    news_ = false;
}

BucketBoard::Mail BucketBoard::take() {
    const std::lock_guard lock(mutex_);
    Mail mail = std::move(mail_);
    mail_ = {};
    // State, not news: told again each time.
    mail_.started = mail.started;
    mail_.closing = mail.closing;
    mail.broken = !broken_.empty();
    return mail;
}

void BucketBoard::complete(std::size_t bucket, std::uint64_t exchange, const Exchanged& exchanged) {
    std::unique_lock lock(mutex_);
    completed_[bucket] = {exchange, exchanged};
    tell(std::move(lock));
}

void BucketBoard::complete_final() {
    std::unique_lock lock(mutex_);
    final_is_here_ = true;
    tell(std::move(lock));
}

void BucketBoard::set_presence(PeerIndex peer, Presence presence) {
    std::unique_lock lock(mutex_);
    members_[peer].presence = presence;
    members_[peer].ever_lost |= presence == Presence::lost;
    tell(std::move(lock));
}

void BucketBoard::heard(PeerIndex peer, const Status& status) {
    std::unique_lock lock(mutex_);
    members_[peer].status = status;
    tell(std::move(lock));
}

void BucketBoard::break_off(const std::string& why) {
    std::unique_lock lock(mutex_);
    if (broken_.empty()) broken_ = why;
    tell(std::move(lock));
}

void BucketBoard::tell(std::unique_lock<std::mutex> lock) {
    news_ = true;
    lock.unlock();
    changed_.notify_one();
}

}  // namespace ako
