// The mailbox: what the two halves of every mode tell each other. To the compute half: one bounded
// FIFO of frames, and beside it the newest presence of each peer. To the traffic half: state only
// (the newest Status, whether training has begun, cannot go on or is over), so that it needs no
// room. What a mode shares besides has a place of its own, which may wake() who waits here. Both
// threads; every member but the pool is protected by the mutex.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "ako/exchange.h"
#include "ako/frame.h"
#include "ako/presence.h"
#include "ako/threads.h"
#include "ako/types.h"
#include "src/numbers/buffer_pool.h"

namespace ako {

/// A frame that has arrived whole.
struct Arrival {
    PeerIndex from = 0;
    Header header;
    PooledBuffer payload;  ///< empty but for a Partial
    Time arrived_at{};
    bool opens_session = false;  ///< the first frame of its session
    bool new_process = false;    ///< and the first of another process than before
};

/// What a header takes in memory: itself, and the lists in it.
std::size_t memory_of(const Header& header);

class Mailbox {
  public:
    /// Frames that may wait, and what their headers may take in memory; payloads are limited by the
    /// pool. A header is at most a row of versions, 0.8 MB, so 64 MiB are the longest of 80 frames;
    /// the frames that were promised room while there was some, one for each session, may come on
    /// top.
    static constexpr std::size_t frames_max = 16'384;
    static constexpr std::size_t header_bytes_total_max = std::size_t{64} << 20;

    /// `payload_bytes_max`: what the payloads in it, or promised a place, may take together.
    explicit Mailbox(std::size_t peer_count, std::size_t payload_bytes_max = 0)
        : pool_(payload_bytes_max), presence_(peer_count) {}

    // Network thread.
    /// Memory for the payload of a frame that is to come; nothing if all of it is in use.
    std::optional<PooledBuffer> take_buffer(std::size_t bytes) AKO_NETWORK_THREAD {
        return pool_.take(bytes);
    }
    /// Is there room for one more beside `reserved` that were promised room? (It is the only
    /// writer, so that room stays.)
    bool has_room(std::size_t reserved = 0) const AKO_NETWORK_THREAD;
    /// `has_room` was true.
    void push(Arrival arrival) AKO_NETWORK_THREAD;
    /// Takes a Status instead of an older one of this peer that was not taken yet. False, and
    /// nothing done, if there is none, or this is no Status.
    bool replace_status(Arrival& arrival) AKO_NETWORK_THREAD;
    /// Replaces an older change that was not yet taken. A loss is never hidden by what comes after
    /// it: see `take_presence`.
    void set_presence(PeerIndex peer, Presence presence) AKO_NETWORK_THREAD;
    /// The others ended without this peer, as it seems now.
    void set_left_behind(bool left_behind) AKO_NETWORK_THREAD;
    /// Peers of which no dial has ended yet, one way or the other, and which have not come either.
    void set_unanswered(PeerSet peers) AKO_NETWORK_THREAD;

    struct Posted {
        std::optional<Status> status;  ///< if there is a new one
        bool urgent = false;           ///< it is to go out at once
        bool started = false;          ///< the first round has begun here
        bool broken = false;           ///< the exchange cannot go on
        bool closing = false;          ///< nothing but goodbye any more
        Farewell farewell;             ///< then: how this peer ends
    };
    Posted take_posted() AKO_NETWORK_THREAD;

    // Compute thread.
    /// Every frame there is, oldest first.
    std::deque<Arrival> take() AKO_COMPUTE_THREAD;
    /// What changed since the last call, at most two changes a peer (lost, then the newest).
    std::vector<PresenceChange> take_presence() AKO_COMPUTE_THREAD;
    bool left_behind() const AKO_COMPUTE_THREAD;
    PeerSet unanswered() const AKO_COMPUTE_THREAD;
    void post(Status status, bool urgent) AKO_COMPUTE_THREAD;
    /// What every Status from now on says of it.
    void tell_largest_norm(float norm) AKO_COMPUTE_THREAD;
    void start() AKO_COMPUTE_THREAD;
    /// The first word stands.
    void close(const Farewell& farewell = {}) AKO_COMPUTE_THREAD;
    /// Waits until something is there, or `for_at_most` has passed.
    void wait(Time for_at_most) AKO_COMPUTE_THREAD;

    // Either thread.
    /// The exchange cannot go on; the first reason stands. `of`: what the others are told, and how
    /// the peer ended that is the reason, if that is known; `peer`: which one, where it is another.
    void break_off(const std::string& why, const Farewell& of = {EndCause::broken, 0, ""},
                   std::optional<PeerIndex> peer = std::nullopt);
    /// After that: what this peer does, and what it tells the others.
    Next broken_next() const;
    Farewell broken_by() const;
    /// Why it cannot go on; empty if it can.
    std::string broken() const;
    /// There is something for the compute half that does not lie here.
    void wake();

  private:
    struct Pending {
        bool lost = false;
        std::optional<Presence> newest;
    };

    BufferPool pool_;  ///< synchronised by itself; outlives what lies in frames_

    mutable Mutex mutex_;
    Condition changed_;
    bool woken_ AKO_GUARDED_BY(mutex_) = false;
    std::deque<Arrival> frames_ AKO_GUARDED_BY(mutex_);
    std::size_t header_bytes_ AKO_GUARDED_BY(mutex_) = 0;  ///< sum over frames_
    std::vector<Pending> presence_ AKO_GUARDED_BY(mutex_);
    bool presence_changed_ AKO_GUARDED_BY(mutex_) = false;
    bool left_behind_ AKO_GUARDED_BY(mutex_) = false;
    PeerSet unanswered_ AKO_GUARDED_BY(mutex_) = ~PeerSet{0};
    Posted posted_ AKO_GUARDED_BY(mutex_);
    float largest_norm_ AKO_GUARDED_BY(mutex_) = 0;
    std::string broken_ AKO_GUARDED_BY(mutex_);
    Farewell broken_by_ AKO_GUARDED_BY(mutex_);
    std::optional<PeerIndex> broken_by_peer_ AKO_GUARDED_BY(mutex_);
};

}  // namespace ako
