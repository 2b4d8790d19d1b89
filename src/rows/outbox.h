// The outbox: what the compute half of the mode `ako` hands to its traffic half beside what the
// mailbox of every mode takes. The newest snapshot, and what is final of the one being written, is
// replaced, never queued; only control frames and relays queue, each with a limit per peer. Both
// threads; every member but the pool is protected by the mutex, which is held for moves of pointers
// only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ako/frame.h"
#include "ako/threads.h"
#include "ako/types.h"
#include "src/numbers/buffer_pool.h"
#include "src/rows/snapshots.h"

namespace ako {

/// Blocks copied out of a row for one peer that asked for them.
struct Relay {
    Partial header;
    PooledBuffer payload;
};

/// Of the snapshot that is being written the blocks from `first` on: they are final.
struct Growing {
    SnapshotIndex snapshot = 0;
    BlockIndex first = 0;
    Version version;   ///< that the whole of it will have
    Time sealed_at{};  ///< when the newest of them were
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

    /// What the traffic half has not seen yet.
    struct Unseen {
        std::optional<SnapshotIndex> snapshot;
        std::optional<Growing> growing;            ///< after that one; who takes it holds it
        bool part_dropped = false;                 ///< see `drop_part`
        std::vector<std::vector<Header>> control;  ///< [peer_count]
        std::vector<std::vector<Relay>> relays;    ///< [peer_count]
        bool grants_lifted = false;
        PeerSet damaged = 0;   ///< what came of them was
        PeerSet answered = 0;  ///< see `answer`
    };

    /// Of the snapshots.
    struct Waiting {
        std::optional<SnapshotIndex> snapshot;
        bool growing = false;
    };

    explicit Outbox(std::size_t peer_count);

    // Compute thread.
    /// A snapshot to write the next row into. There always is one: see snapshots.h.
    SnapshotIndex spare() AKO_COMPUTE_THREAD;
    void post(SnapshotIndex snapshot) AKO_COMPUTE_THREAD;
    /// A part of the next, before it is posted.
    void post_part(const Growing& growing) AKO_COMPUTE_THREAD;
    /// The rest of it does not come, and no more of it is sent.
    void drop_part() AKO_COMPUTE_THREAD;
    /// One more holds it, and gives it back.
    void keep(SnapshotIndex snapshot) AKO_COMPUTE_THREAD;
    /// False if the peer's queue is full; the caller's protocol asks again by itself.
    bool send(PeerIndex peer, Header header) AKO_COMPUTE_THREAD;
    /// Has a Want of this row gone to this peer, ever? Then what it relays of it may be an answer.
    bool asked(PeerIndex peer, RowIndex row) const AKO_COMPUTE_THREAD {
        return (asked_[peer] & peer_bit(owner_of(row))) != 0;
    }
    /// How many bytes may be relayed to this peer now.
    std::size_t relay_room(PeerIndex peer) const AKO_COMPUTE_THREAD;
    /// Memory for a relay; nothing if all of it is on its way.
    std::optional<PooledBuffer> relay_buffer(std::size_t bytes) AKO_COMPUTE_THREAD {
        return relay_pool_.take(bytes);
    }
    void relay(PeerIndex peer, Relay relay) AKO_COMPUTE_THREAD;
    void lift_grants(bool lifted) AKO_COMPUTE_THREAD;
    /// A block came damaged over the session with this peer, which is to end: a new one begins with
    /// nothing sent.
    void mistrust(PeerIndex peer) AKO_COMPUTE_THREAD;

    /// What these peers said first in their sessions has been heard here, and the newest snapshot
    /// has given way to it: now they may have it. Before that both might get too much of a row.
    void answer(PeerSet peers) AKO_COMPUTE_THREAD;

    // Network thread.
    Waiting waiting() const AKO_NETWORK_THREAD;
    /// Everything there is; a snapshot, and the one that grows, only if asked for, and else they
    /// wait on, the one that grows also for the one before it.
    Unseen take(bool with_snapshot = true, bool with_growing = true) AKO_NETWORK_THREAD;
    /// It is sent, or there is nobody to send it to.
    void control_sent(PeerIndex peer, const Header& header) AKO_NETWORK_THREAD;
    void relay_sent(PeerIndex peer, std::size_t bytes) AKO_NETWORK_THREAD;

    // Either thread.
    void give_back(SnapshotIndex snapshot);

  private:
    BufferPool relay_pool_;       ///< synchronised by itself; outlives what lies in unseen_
    std::vector<PeerSet> asked_;  ///< [peer_count]: rows, by their owners; compute thread

    mutable Mutex mutex_;
    Unseen unseen_ AKO_GUARDED_BY(mutex_);
    /// How many hold each snapshot; 0: it is spare.
    std::array<std::uint8_t, snapshot_count> holders_ AKO_GUARDED_BY(mutex_);
    /// [peer_count] each, here and with the network thread
    std::vector<std::size_t> control_waiting_ AKO_GUARDED_BY(mutex_);
    std::vector<std::size_t> control_bytes_ AKO_GUARDED_BY(mutex_);
    std::vector<std::size_t> relay_waiting_ AKO_GUARDED_BY(mutex_);  ///< bytes
};

}  // namespace ako
