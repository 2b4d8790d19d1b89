// The inbox: what the network thread hands to the compute thread. One bounded FIFO of frames, and
// beside it the newest presence of each peer, which is state and so needs no room in a queue. Both
// threads; every member is protected by the mutex.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "ako/frame.h"
#include "ako/types.h"
#include "src/buffer_pool.h"
#include "src/membership.h"

namespace ako {

/// A frame that has arrived whole.
struct Arrival {
    PeerIndex from = 0;
    Header header;
    PooledBuffer payload;  ///< empty but for a Partial
    Time arrived_at{};
    bool opens_session = false;  ///< the first frame of its session
};

struct PresenceChange {
    PeerIndex peer = 0;
    Presence presence = Presence::absent;
};

/// What a header takes in memory: itself, and the lists in it.
std::size_t memory_of(const Header& header);

class Inbox {
  public:
    /// Frames that may wait, and what their headers may take in memory; payloads are limited by the
    /// pool. A header is at most a row of versions, 0.8 MB, so 64 MiB are the longest of 80 frames;
    /// the frames that were promised room while there was some, one for each session, may come on
    /// top.
    static constexpr std::size_t frames_max = 16'384;
    static constexpr std::size_t header_bytes_total_max = std::size_t{64} << 20;

    explicit Inbox(std::size_t peer_count) : presence_(peer_count) {}

    /// Network thread: is there room for one more beside `reserved` that were promised room? (It is
    /// the only writer, so that room stays.)
    bool has_room(std::size_t reserved = 0) const;
    /// Network thread; `has_room` was true.
    void push(Arrival arrival);
    /// Network thread: replaces an older change that was not yet taken. A loss is never hidden by
    /// what comes after it: see `take_presence`.
    void set_presence(PeerIndex peer, Presence presence);

    /// Compute thread: everything there is, oldest first.
    std::deque<Arrival> take();
    /// Compute thread: what changed since the last call, at most two changes a peer (lost, then the
    /// newest).
    std::vector<PresenceChange> take_presence();
    /// Compute thread: waits until something is there, or `for_at_most` has passed.
    void wait(Time for_at_most);

  private:
    struct Pending {
        bool lost = false;
        std::optional<Presence> newest;
    };

    mutable std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<Arrival> frames_;
    std::size_t header_bytes_ = 0;  ///< of frames_
    std::vector<Pending> presence_;
    bool presence_changed_ = false;
};

}  // namespace ako
