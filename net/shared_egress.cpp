#include "net/shared_egress.h"

#include "net/session.h"

namespace ako {

bool SharedEgress::take_turn(const std::shared_ptr<Session>& session) {
    const Time now = clock_.now();
    if (waiting_.empty() && bucket_.ready_at(now) <= now) return true;
    waiting_.push_back(session);
    arm();
    return false;
}

void SharedEgress::arm() {
    if (armed_ || waiting_.empty()) return;
    armed_ = true;
    const Time now = clock_.now();
    timer_.expires_after(bucket_.ready_at(now) - now);
    timer_.async_wait([this](const asio::error_code& error) {
        armed_ = false;
        if (!error) serve();
    });
}

void SharedEgress::serve() {
    // One pass over those who wait now: a session that writes its slice joins the end again.
    for (std::size_t count = waiting_.size(); count > 0; --count) {
        const Time now = clock_.now();
        if (bucket_.ready_at(now) > now) break;
        const auto session = waiting_.front().lock();
        waiting_.pop_front();
        if (session) session->turn();
    }
    arm();
}

}  // namespace ako
