// The outbox: what the compute thread hands to the network thread. State (the newest snapshot, the
// newest Status) is replaced, never queued; only control frames and relays queue, each with a limit
// per peer. Both threads; every member but the pool is protected by the mutex, which is held for
// moves of pointers only.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "ako/frame.h"
#include "ako/types.h"
#include "src/buffer_pool.h"
#include "src/snapshots.h"

namespace ako {

/// Blocks copied out of a row for one peer that asked for them.
struct Relay {
    Partial header;
    PooledBuffer payload;
};

/// What there is for the network thread since it last looked.
struct Mail {
    std::optional<SnapshotIndex> snapshot;
    std::optional<Status> status;
    bool status_urgent = false;
    std::vector<std::vector<Header>> control;  ///< [peer_count]
    std::vector<std::vector<Relay>> relays;    ///< [peer_count]
    bool grants_lifted = false;
    PeerSet damaged = 0;   ///< what came of them was
    bool closing = false;  ///< nothing but control any more
};

class Outbox {
  public:
    /// Relays that may wait for one peer: four of the largest frames keep a link busy until the
    /// asker's next Want; what does not fit is asked for again.
    static constexpr std::size_t relay_bytes_max = 4u << 20;
    /// Control frames that may wait for one peer: a version map of every row of two cuts, and
    /// slack; and what they may take in memory, which ends with the first that exceeds it.
    static constexpr std::size_t control_max = 2 * peers_max + 128;
    static constexpr std::size_t control_bytes_max = std::size_t{64} << 20;

    explicit Outbox(std::size_t peer_count);

    // Compute thread.
    /// A snapshot to write the next row into. There always is one: see snapshots.h.
    SnapshotIndex spare();
    void post(SnapshotIndex snapshot);
    void post(Status status, bool urgent);
    /// False if the peer's queue is full; the caller's protocol asks again by itself.
    bool send(PeerIndex peer, Header header);
    /// How many bytes may be relayed to this peer now.
    std::size_t relay_room(PeerIndex peer) const;
    /// Memory for a relay; nothing if all of it is on its way.
    std::optional<PooledBuffer> relay_buffer(std::size_t bytes) { return relay_pool_.take(bytes); }
    void relay(PeerIndex peer, Relay relay);
    void lift_grants(bool lifted);
    /// A block came damaged over the session with this peer, which is to end: a new one begins with
    /// nothing sent.
    void mistrust(PeerIndex peer);
    void close();

    // Network thread.
    bool snapshot_waits() const;
    /// Everything there is; the snapshot only if asked for, and else it waits on.
    Mail take(bool with_snapshot = true);
    void give_back(SnapshotIndex snapshot);
    /// It is sent, or there is nobody to send it to.
    void control_sent(PeerIndex peer, const Header& header);
    void relay_sent(PeerIndex peer, std::size_t bytes);

  private:
    BufferPool relay_pool_;  ///< synchronised by itself; outlives what lies in mail_

    mutable std::mutex mutex_;
    Mail mail_;
    std::array<bool, snapshot_count> spare_;
    /// [peer_count] each, here and with the network thread
    std::vector<std::size_t> control_waiting_;
    std::vector<std::size_t> control_bytes_;
    std::vector<std::size_t> relay_waiting_;  ///< bytes
};

}  // namespace ako
