// See mailbox.h.
#include "src/exchange/mailbox.h"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ako/assert.h"
#include "ako/has_fields.h"

namespace ako {

namespace {

/// Adds up what the lists and texts of a header keep beside it, by its list of fields.
struct KeptBeside {
    std::size_t bytes = 0;

    void operator()(const char*, const auto& value, auto...) { add(value); }

    void add(const auto&) {}
    void add(const HasFields auto& value) { value.fields(value, *this); }
    void add(const std::string& text) {
        if (text.capacity() > std::string().capacity()) bytes += text.capacity();
    }
    template <class Value>
    void add(const std::optional<Value>& value) {
        if (value) add(*value);
    }
    template <class Item>
    void add(const std::vector<Item>& list) {
        add_list<Item>(list);
    }
    template <class Item>
    void add(const PerRow<Item>& list) {
        add_list<Item>(list);
    }

  private:
    template <class Item>
    void add_list(const auto& list) {
        bytes += list.capacity() * sizeof(Item);
        if constexpr (!std::is_trivially_copyable_v<Item>)
            for (const Item& item : list) add(item);
    }
};

}  // namespace

std::size_t memory_of(const Header& header) {
    KeptBeside kept;
    std::visit([&](const auto& it) { it.fields(it, kept); }, header);
    return sizeof(Arrival) + kept.bytes;
}

// ---- network thread

bool Mailbox::has_room(std::size_t reserved) const {
    const MutexLock lock(mutex_);
    return frames_.size() + reserved < frames_max && header_bytes_ < header_bytes_total_max;
}

void Mailbox::push(Arrival arrival) {
    {
        const MutexLock lock(mutex_);
        AKO_ASSERT(frames_.size() < frames_max, "pushed into a full mailbox");
        header_bytes_ += memory_of(arrival.header);
        frames_.push_back(std::move(arrival));
    }
    changed_.notify_one();
}

bool Mailbox::replace_status(Arrival& arrival) {
    if (!std::holds_alternative<Status>(arrival.header)) return false;
    const MutexLock lock(mutex_);
    for (Arrival& older : frames_) {
        if (older.from != arrival.from || !std::holds_alternative<Status>(older.header)) continue;
        header_bytes_ += memory_of(arrival.header);
        header_bytes_ -= memory_of(older.header);
        arrival.opens_session |= older.opens_session;
        arrival.new_process |= older.new_process;
        older = std::move(arrival);
        return true;
    }
    return false;
}

void Mailbox::set_presence(PeerIndex peer, Presence presence) {
    {
        const MutexLock lock(mutex_);
        const bool lost = presence == Presence::lost;
        if (lost) presence_[peer].lost = true;
        // That nobody listens where it was says more, and is said only once.
        if (!lost || presence_[peer].newest != Presence::gone) presence_[peer].newest = presence;
        presence_changed_ = true;
    }
    changed_.notify_one();
}

void Mailbox::set_left_behind(bool left_behind) {
    const MutexLock lock(mutex_);
    left_behind_ = left_behind;
}

void Mailbox::set_unanswered(PeerSet peers) {
    const MutexLock lock(mutex_);
    unanswered_ = peers;
}

Mailbox::Posted Mailbox::take_posted() {
    const MutexLock lock(mutex_);
    Posted state;  // state, not news: told again each time
    state.started = posted_.started;
    state.closing = posted_.closing;
    state.farewell = posted_.farewell;
    Posted posted = std::exchange(posted_, std::move(state));
    posted.broken = !broken_.empty();
    return posted;
}

// ---- compute thread

std::deque<Arrival> Mailbox::take() {
    const MutexLock lock(mutex_);
    header_bytes_ = 0;
    return std::exchange(frames_, {});
}

std::vector<PresenceChange> Mailbox::take_presence() {
    const MutexLock lock(mutex_);
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

bool Mailbox::left_behind() const {
    const MutexLock lock(mutex_);
    return left_behind_;
}

PeerSet Mailbox::unanswered() const {
    const MutexLock lock(mutex_);
    return unanswered_;
}

void Mailbox::post(Status status, bool urgent) {
    const MutexLock lock(mutex_);
    posted_.status = std::move(status);
    posted_.status->standing.largest_norm = largest_norm_;
    posted_.urgent |= urgent;
}

void Mailbox::tell_largest_norm(float norm) {
    const MutexLock lock(mutex_);
    largest_norm_ = norm;
}

void Mailbox::start() {
    const MutexLock lock(mutex_);
    posted_.started = true;
}

void Mailbox::close(const Farewell& farewell) {
    const MutexLock lock(mutex_);
    if (std::exchange(posted_.closing, true)) return;
    posted_.farewell = farewell;
}

void Mailbox::wait(Time for_at_most) {
    const MutexLock lock(mutex_);
    changed_.wait_for(mutex_, for_at_most, [this]() AKO_REQUIRES(mutex_) {
        return !frames_.empty() || presence_changed_ || woken_;
    });
    woken_ = false;
}

// ---- either thread

void Mailbox::break_off(const std::string& why, const Farewell& of, std::optional<PeerIndex> peer) {
    {
        const MutexLock lock(mutex_);
        if (broken_.empty()) {
            broken_ = why;
            broken_by_ = of;
            broken_by_peer_ = peer;
        }
        woken_ = true;
    }
    changed_.notify_one();
}

std::string Mailbox::broken() const {
    const MutexLock lock(mutex_);
    return broken_;
}

Next Mailbox::broken_next() const {
    const MutexLock lock(mutex_);
    if (broken_by_.cause != EndCause::numbers) return Next::give_up(Ending::broken, broken_);
    Next next = Next::give_up(Ending::numbers, broken_);
    next.numbers_of = broken_by_peer_;
    return next;
}

Farewell Mailbox::broken_by() const {
    const MutexLock lock(mutex_);
    return broken_by_;
}

void Mailbox::wake() {
    {
        const MutexLock lock(mutex_);
        woken_ = true;
    }
    changed_.notify_one();
}

}  // namespace ako
