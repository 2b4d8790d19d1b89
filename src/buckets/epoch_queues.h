// The queues of all links of an elastic ring. What waits in them is of one epoch, and goes once all
// members are ready for that. Lives as long as the ring. Network thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ako/threads.h"
#include "ako/transport.h"
#include "src/buckets/chunk_queue.h"

namespace ako {

class EpochQueues {
  public:
    /// `transport` outlives this.
    EpochQueues(PeerIndex self, std::size_t peer_count, Transport& transport)
        : self_(self), transport_(transport), queues_(peer_count) {}

    std::size_t peer_count() const AKO_NETWORK_THREAD { return queues_.size(); }
    std::uint32_t epoch() const AKO_NETWORK_THREAD { return epoch_; }
    void enter(std::uint32_t epoch) AKO_NETWORK_THREAD { epoch_ = epoch; }

    /// All members know what all hold.
    bool going() const AKO_NETWORK_THREAD { return going_; }
    void go() AKO_NETWORK_THREAD {
        if (std::exchange(going_, true)) return;
        for (PeerIndex peer = 0; peer < queues_.size(); ++peer)
            if (peer != self_) transport_.wake(peer);
    }
    void stop() AKO_NETWORK_THREAD { going_ = false; }

    void push(PeerIndex to, QueuedChunk chunk) AKO_NETWORK_THREAD {
        chunk.header.epoch = epoch_;
        queues_[to].push(chunk);
        if (going_) transport_.wake(to);
    }
    std::optional<QueuedChunk> pop(PeerIndex peer, std::size_t count_max) AKO_NETWORK_THREAD {
        return queues_[peer].pop(count_max);
    }
    /// What is being sent must not lie where the next epoch writes.
    void copy_aside(PeerIndex peer) AKO_NETWORK_THREAD {
        if (peer != self_) transport_.copy_aside(peer);
    }
    void wake(PeerIndex peer) AKO_NETWORK_THREAD { transport_.wake(peer); }

  private:
    const PeerIndex self_;
    Transport& transport_;
    std::vector<ChunkQueue> queues_;  ///< [peer]
    std::uint32_t epoch_ = 0;
    bool going_ = false;
};

}  // namespace ako
