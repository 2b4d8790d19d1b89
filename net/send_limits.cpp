#include "net/send_limits.h"

#include <utility>

#include "net/session.h"

namespace ako {

void SendLimits::set(TokenBucket& link, SharedEgress& all) {
    link_ = &link;
    all_ = &all;
}

bool SendLimits::take_turn(Session& session) {
    if (all_ == nullptr || !all_->limited() || std::exchange(has_turn_, false)) return true;
    return all_->take_turn(session.shared_from_this());
}

void SendLimits::spend(std::size_t bytes, const Clock& clock) {
    if (link_ == nullptr) return;
    link_->spend(bytes, clock.now());
    all_->spend(bytes);
}

}  // namespace ako
