// The sums of an elastic ring at one peer: of each bucket two syncs in a row, each with its own
// memory, which it has while that is being sent, read into or used; what is held of them from one
// epoch to the next, and what is handed to those who lack it (elastic_ring.h says by which rules).
// Lives as long as the ring. Network thread only, but for what says otherwise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/membership.h"
#include "ako/payload.h"
#include "ako/threads.h"
#include "src/buckets/blocked_peers.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/buckets.h"
#include "src/buckets/epoch_circles.h"
#include "src/buckets/epoch_queues.h"
#include "src/buckets/ring_pass.h"

namespace ako {

class ElasticSums final : private RingPass::Outlet {
  public:
    /// All references outlive this.
    ElasticSums(const Buckets& buckets, PeerIndex self, std::size_t straight_bytes_max,
                const EpochCircles& circles, BucketBoard& board, EpochQueues& queues,
                BlockedPeers& blocked);

    /// [parameter_count], as ElasticRing::sums. Any thread.
    std::span<const float> of(std::uint64_t sync) const { return sums_[sync % 2]; }
    /// The newest whole sum of each bucket.
    std::vector<SyncRun> held() const AKO_NETWORK_THREAD;
    /// Has the compute thread used the sum of this sync, and given nothing to a later one?
    bool is_used(std::size_t bucket, std::uint64_t sync) const AKO_NETWORK_THREAD {
        return states_[bucket].consumed == sync;
    }

    // ---- epochs
    /// An epoch is over: nothing that is not whole is held any more, and nothing is sent.
    void drop() AKO_NETWORK_THREAD;
    /// What this peer has given to the sync under way is worth nothing either.
    void forget_own() AKO_NETWORK_THREAD;
    /// A member that holds the state begins the epoch of these circles.
    void begin(const std::vector<Holding>& holdings) AKO_NETWORK_THREAD;
    /// A newcomer has used all sums up to this sync, once it has come in.
    void begin_after(std::uint64_t sync) AKO_NETWORK_THREAD;
    void come_in() AKO_NETWORK_THREAD { active_ = true; }

    // ---- of the compute half
    void contributed(const Contribution& contribution) AKO_NETWORK_THREAD;
    void consumed(std::size_t bucket, std::uint64_t sync) AKO_NETWORK_THREAD;

    // ---- chunks of this epoch
    std::optional<std::string> refuse(PeerIndex peer, const Chunk& chunk,
                                      std::size_t count) const AKO_NETWORK_THREAD;
    /// Nothing while its memory is in use.
    std::optional<std::span<float>> reserve(PeerIndex peer, const Chunk& chunk,
                                            std::size_t count) AKO_NETWORK_THREAD;
    void arrived(PeerIndex peer, const Chunk& chunk, std::size_t count) AKO_NETWORK_THREAD;
    /// So many elements of the memory of a sync of this parity are not in use any more.
    void release(std::size_t bucket, std::uint64_t parity, std::size_t count) AKO_NETWORK_THREAD;
    /// Which of the two vectors of sums this lies in; nothing for what is no sum.
    std::optional<std::uint64_t> parity_of(const float* values) const AKO_NETWORK_THREAD;

  private:
    /// One sync of one bucket.
    struct Pass {
        std::uint64_t sync = 0;  ///< 0: none
        RingPass ring;
        PeerSet contributors = 0;
        std::size_t busy = 0;  ///< elements being sent from its memory, queued, or read into it
    };
    struct State {
        std::uint64_t held = 0;           ///< the newest sync whose whole sum is here
        std::uint64_t consumed = 0;       ///< and has been used
        std::uint64_t target = 0;         ///< up to here somebody holds the sum
        PeerIndex restorer = 0;           ///< who hands it to this peer, if it lacks it
        std::optional<Contribution> own;  ///< to the one under way
        Pass passes[2];                   ///< by the parity of their syncs
    };

    Pass& pass_of(std::size_t bucket, std::uint64_t sync) AKO_NETWORK_THREAD {
        return states_[bucket].passes[sync % 2];
    }
    RingBucket ring_bucket(std::size_t bucket, std::uint64_t sync) const AKO_NETWORK_THREAD;
    /// The memory of this sync of the bucket is its own. False while it is in use.
    bool prepare(std::size_t bucket, std::uint64_t sync) AKO_NETWORK_THREAD;
    /// Gives this peer's own values to the sync under way, if they are here and it may begin.
    void begin_pass(std::size_t bucket) AKO_NETWORK_THREAD;
    /// The sum of the sync under way is here.
    void whole(std::size_t bucket, const Pass& pass) AKO_NETWORK_THREAD;
    /// `held`: by each peer that held the state, [peer].
    void restore(std::size_t bucket, const std::vector<std::uint64_t>& held) AKO_NETWORK_THREAD;
    std::optional<std::string> refuse_restored(PeerIndex peer, const Chunk& chunk,
                                               std::size_t count) const AKO_NETWORK_THREAD;
    void send(PeerIndex to, std::size_t bucket, const Chunk& chunk, std::size_t count,
              const float* values) override AKO_NETWORK_THREAD;

    const Buckets& buckets_;  // constant after construction
    const PeerIndex self_;
    const std::size_t straight_bytes_max_;
    const EpochCircles& circles_;
    BucketBoard& board_;
    EpochQueues& queues_;
    BlockedPeers& blocked_;

    std::vector<float> sums_[2];  ///< [parameter_count] each
    std::vector<State> states_;   ///< [bucket]
    bool active_ = false;         ///< the epoch has begun, and this peer holds the state
};

}  // namespace ako
