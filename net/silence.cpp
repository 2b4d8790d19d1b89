#include "net/silence.h"

#include <algorithm>

namespace ako {

void Silence::heard(Time now) { newest_byte_at_ = silent_since_ = now; }

void Silence::stop_reading(Time now) {
    if (!unread_since_) unread_since_ = now;
}

void Silence::read_again(Time now) {
    if (unread_since_) silent_since_ += now - *unread_since_;
    unread_since_.reset();
}

void Silence::excuse(Time gap, Time now) {
    if (!unread_since_) silent_since_ = std::min(silent_since_ + gap, now);
}

Time Silence::lasts(Time now) const { return unread_since_.value_or(now) - silent_since_; }

}  // namespace ako
