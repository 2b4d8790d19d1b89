// See inbox.h.
#include "src/inbox.h"

#include <utility>

#include "ako/assert.h"

namespace ako {

bool Inbox::has_room(std::size_t reserved) const {
    const std::lock_guard lock(mutex_);
    return frames_.size() + reserved < frames_max;
}

void Inbox::push(Arrival arrival) {
    {
        const std::lock_guard lock(mutex_);
        AKO_ASSERT(frames_.size() < frames_max, "pushed into a full inbox");
        frames_.push_back(std::move(arrival));
    }
    arrived_.notify_one();
}

void Inbox::set_presence(PeerIndex peer, Presence presence) {
    {
        const std::lock_guard lock(mutex_);
        if (presence == Presence::lost) presence_[peer].lost = true;
        presence_[peer].newest = presence;
        presence_changed_ = true;
    }
    arrived_.notify_one();
}

std::deque<Arrival> Inbox::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(frames_, {});
}

std::vector<PresenceChange> Inbox::take_presence() {
    const std::lock_guard lock(mutex_);
    std::vector<PresenceChange> changes;
    if (!std::exchange(presence_changed_, false)) return changes;
    for (PeerIndex peer = 0; peer < presence_.size(); ++peer) {
        const Pending pending = std::exchange(presence_[peer], {});
        if (!pending.newest) continue;
        if (pending.lost && *pending.newest != Presence::lost) {
            changes.push_back({peer, Presence::lost});
        }
        changes.push_back({peer, *pending.newest});
    }
    return changes;
}

void Inbox::wait(Time for_at_most) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, for_at_most, [&] { return !frames_.empty() || presence_changed_; });
}

}  // namespace ako
