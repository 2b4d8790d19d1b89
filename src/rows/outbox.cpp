// See outbox.h.
#include "src/rows/outbox.h"

#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "src/exchange/mailbox.h"

namespace ako {

Outbox::Outbox(std::size_t peer_count)
    : relay_pool_(peer_count * relay_bytes_max),
      asked_(peer_count, 0),
      control_waiting_(peer_count, 0),
      control_bytes_(peer_count, 0),
      relay_waiting_(peer_count, 0) {
    holders_.fill(0);
    unseen_.control.resize(peer_count);
    unseen_.relays.resize(peer_count);
}

SnapshotIndex Outbox::spare() {
    const MutexLock lock(mutex_);
    const auto found = std::find(holders_.begin(), holders_.end(), 0);
    AKO_ASSERT(found != holders_.end(), "no spare snapshot: somebody keeps more than is said");
    *found = 1;
    return static_cast<SnapshotIndex>(found - holders_.begin());
}

void Outbox::post(SnapshotIndex snapshot) {
    const MutexLock lock(mutex_);
    if (unseen_.snapshot) --holders_[*unseen_.snapshot];  // nobody has seen it
    unseen_.snapshot = snapshot;
    unseen_.growing.reset();
}

void Outbox::post_part(const Growing& growing) {
    const MutexLock lock(mutex_);
    unseen_.growing = growing;
}

void Outbox::keep(SnapshotIndex snapshot) {
    const MutexLock lock(mutex_);
    ++holders_[snapshot];
}

bool Outbox::send(PeerIndex peer, Header header) {
    const auto* want = std::get_if<Want>(&header);
    if (want != nullptr && want->row != initial_row) asked_[peer] |= peer_bit(owner_of(want->row));
    const MutexLock lock(mutex_);
    if (control_waiting_[peer] >= control_max || control_bytes_[peer] >= control_bytes_max)
        return false;
    ++control_waiting_[peer];
    control_bytes_[peer] += memory_of(header);
    unseen_.control[peer].push_back(std::move(header));
    return true;
}

std::size_t Outbox::relay_room(PeerIndex peer) const {
    const MutexLock lock(mutex_);
    return relay_bytes_max - std::min(relay_bytes_max, relay_waiting_[peer]);
}

void Outbox::relay(PeerIndex peer, Relay relay) {
    const MutexLock lock(mutex_);
    relay_waiting_[peer] += relay.payload.bytes().size();
    unseen_.relays[peer].push_back(std::move(relay));
}

void Outbox::lift_grants(bool lifted) {
    const MutexLock lock(mutex_);
    unseen_.grants_lifted = lifted;
}

void Outbox::mistrust(PeerIndex peer) {
    const MutexLock lock(mutex_);
    unseen_.damaged |= peer_bit(peer);
}

void Outbox::answer(PeerSet peers) {
    const MutexLock lock(mutex_);
    unseen_.answered |= peers;
}

void Outbox::drop_part() {
    const MutexLock lock(mutex_);
    unseen_.growing.reset();
    unseen_.part_dropped = true;
}

Outbox::Waiting Outbox::waiting() const {
    const MutexLock lock(mutex_);
    return {unseen_.snapshot, unseen_.growing.has_value()};
}

Outbox::Unseen Outbox::take(bool with_snapshot, bool with_growing) {
    const MutexLock lock(mutex_);
    Unseen unseen;
    if (!with_snapshot && unseen_.snapshot) {
        unseen.snapshot = std::exchange(unseen_.snapshot, std::nullopt);
        unseen.answered = std::exchange(unseen_.answered, 0);  // not with the one before
        with_growing = false;
    }
    if (!with_growing) unseen.growing = std::exchange(unseen_.growing, std::nullopt);
    if (unseen_.growing) ++holders_[unseen_.growing->snapshot];
    unseen.control.resize(control_waiting_.size());
    unseen.relays.resize(relay_waiting_.size());
    unseen.grants_lifted = unseen_.grants_lifted;  // a state: it stays
    return std::exchange(unseen_, std::move(unseen));
}

void Outbox::give_back(SnapshotIndex snapshot) {
    const MutexLock lock(mutex_);
    AKO_ASSERT(holders_[snapshot] > 0, "a snapshot that nobody holds is given back");
    --holders_[snapshot];
}

void Outbox::control_sent(PeerIndex peer, const Header& header) {
    const MutexLock lock(mutex_);
    --control_waiting_[peer];
    control_bytes_[peer] -= memory_of(header);
}

void Outbox::relay_sent(PeerIndex peer, std::size_t bytes) {
    const MutexLock lock(mutex_);
    relay_waiting_[peer] -= bytes;
}

}  // namespace ako
