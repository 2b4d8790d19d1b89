// What passes from members of an elastic ring to a newcomer: parameters and velocity after one
// sync, each bucket from one member, as soon as that has used the sum of it. Both ends: what waits
// here for others, and what of others is read into the memory of this peer. Lives as long as the
// ring. Network thread only.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ako/threads.h"
#include "ako/transport.h"
#include "src/buckets/blocked_peers.h"
#include "src/buckets/buckets.h"
#include "src/buckets/elastic_sums.h"
#include "src/buckets/epoch_circles.h"
#include "src/buckets/epoch_queues.h"

namespace ako {

class StateHandover {
  public:
    /// What a member holds beside sums, [parameter_count] each; `velocity` is empty where the
    /// optimizer remembers nothing.
    struct Memory {
        std::span<float> parameters;
        std::span<float> velocity;

        std::size_t elements() const { return parameters.size() + velocity.size(); }
    };

    /// All references outlive this. `sums` is asked what is used of them.
    StateHandover(const Buckets& buckets, Memory memory, const ElasticSums& sums,
                  EpochQueues& queues, BlockedPeers& blocked);

    static bool is_of_state(const Chunk& chunk) {
        return chunk.kind == ChunkKind::parameters || chunk.kind == ChunkKind::velocity;
    }
    /// The sync that newcomers of this epoch come in after.
    std::uint64_t sync() const AKO_NETWORK_THREAD { return sync_; }
    /// An epoch is over.
    void drop() AKO_NETWORK_THREAD;

    // ---- at a member
    /// The newcomers are handed the state after this sync, by all who hold it in turn.
    void give(std::uint64_t sync, const EpochCircles& circles) AKO_NETWORK_THREAD;
    /// Does something wait for this newcomer that could go?
    bool owes(PeerIndex peer) const AKO_NETWORK_THREAD;
    /// The compute thread has used a sum, so that more may go.
    void more_is_used() AKO_NETWORK_THREAD;
    std::optional<OutFrame> next(PeerIndex peer, std::size_t payload_bytes_max) AKO_NETWORK_THREAD;

    // ---- at a newcomer
    /// It is handed the state after this sync.
    void take(std::uint64_t sync) AKO_NETWORK_THREAD;
    /// Elements that have come.
    std::uint64_t taken() const AKO_NETWORK_THREAD { return taken_; }
    bool filled() const AKO_NETWORK_THREAD { return taken_ == memory_.elements(); }
    bool lacks(const Chunk& chunk, std::size_t count) const AKO_NETWORK_THREAD;
    /// Nothing while something of an epoch before is read into the memory.
    std::optional<std::span<float>> reserve(const Chunk& chunk,
                                            std::size_t count) AKO_NETWORK_THREAD;
    void arrived(std::size_t count) AKO_NETWORK_THREAD { taken_ += count; }
    /// Nothing more is read into the memory of so many elements, which were `now`, or not, of this
    /// epoch.
    void release(bool now, std::size_t count) AKO_NETWORK_THREAD;

  private:
    /// What goes to one newcomer from here.
    struct Serving {
        std::vector<std::size_t> buckets;  ///< that wait, the next one last
        std::size_t sent = 0;              ///< elements of the next one
    };

    const Buckets& buckets_;  // constant after construction
    const Memory memory_;
    const ElasticSums& sums_;
    EpochQueues& queues_;
    BlockedPeers& blocked_;

    std::vector<Serving> serving_;  ///< [peer]
    std::uint64_t sync_ = 0;
    std::uint64_t taken_ = 0;
    std::size_t stale_reads_ = 0;  ///< elements being read of an epoch before
    std::size_t reads_ = 0;        ///< and of this one
};

}  // namespace ako
