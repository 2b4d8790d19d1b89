// See inbox.h.
#include "src/inbox.h"

#include <utility>

#include "ako/assert.h"

namespace ako {

std::size_t memory_of(const Header& header) {
    std::size_t lists = 0;
    if (const auto* partial = std::get_if<Partial>(&header))
        lists = partial->checksums.capacity() * sizeof partial->checksums[0];
    else if (const auto* want = std::get_if<Want>(&header))
        lists = want->runs.capacity() * sizeof want->runs[0];
    else if (const auto* lack = std::get_if<Lack>(&header))
        lists = lack->runs.capacity() * sizeof lack->runs[0];
    else if (const auto* row = std::get_if<CutRow>(&header))
        lists = row->runs.capacity() * sizeof row->runs[0];
    else if (const auto* status = std::get_if<Status>(&header))
        lists = status->progress.capacity() * sizeof status->progress[0] +
                status->rows.capacity() * sizeof status->rows[0];
    return sizeof(Arrival) + lists;
}

bool Inbox::has_room(std::size_t reserved) const {
    const std::lock_guard lock(mutex_);
    return frames_.size() + reserved < frames_max && header_bytes_ < header_bytes_total_max;
}

void Inbox::push(Arrival arrival) {
    {
        const std::lock_guard lock(mutex_);
        AKO_ASSERT(frames_.size() < frames_max, "pushed into a full inbox");
        header_bytes_ += memory_of(arrival.header);
        frames_.push_back(std::move(arrival));
    }
    arrived_.notify_one();
}

void Inbox::set_presence(PeerIndex peer, Presence presence) {
    {
        const std::lock_guard lock(mutex_);
        const bool lost = presence == Presence::lost;
        if (lost) presence_[peer].lost = true;
        // That nobody listens where it was says more, and is said only once.
        if (!lost || presence_[peer].newest != Presence::gone) presence_[peer].newest = presence;
        presence_changed_ = true;
    }
    arrived_.notify_one();
}

std::deque<Arrival> Inbox::take() {
    const std::lock_guard lock(mutex_);
    header_bytes_ = 0;
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
