// What the protocols share that sum up each bucket over all peers (ring.h, butterfly.h): of each
// bucket one sync is under way, and its sums are made in memory of this class. They stay there
// until they are used here and sent on; what comes of the next sync before that waits in its
// session. Network thread only.
#pragma once

#include <vector>

#include "ako/threads.h"
#include "src/buckets/blocked_peers.h"
#include "src/buckets/bucket_protocol.h"
#include "src/buckets/buckets.h"
#include "src/buckets/chunk_queue.h"

namespace ako {

class AllReduceProtocol : public BucketProtocol {
  public:
    void contributed(const Contribution& contribution) final AKO_NETWORK_THREAD;
    void consumed(std::size_t bucket, std::uint64_t sync) final AKO_NETWORK_THREAD;
    void finished(PeerIndex, Round) final AKO_NETWORK_THREAD {}
    void session_over(PeerIndex) final AKO_NETWORK_THREAD {}
    bool needs(PeerIndex) const final AKO_NETWORK_THREAD { return true; }
    std::optional<OutFrame> next(PeerIndex peer,
                                 std::size_t payload_bytes_max) final AKO_NETWORK_THREAD;
    std::optional<std::string> refuse(PeerIndex peer, const Chunk& chunk,
                                      std::size_t count) const final AKO_NETWORK_THREAD;
    std::optional<std::span<float>> reserve(PeerIndex peer, const Chunk& chunk,
                                            std::size_t count) final AKO_NETWORK_THREAD;
    std::span<float> result() final { return sums_; }

  protected:
    /// One bucket in one sync.
    struct Sync {
        std::uint64_t number = 1;           ///< of the one under way
        std::optional<Contribution> own;    ///< to it
        std::optional<Contribution> later;  ///< to the next, while this one's sums are being sent
        std::size_t unsent = 0;             ///< elements queued or being sent
        bool consumed = false;
        Wish wish;  ///< the strongest that has come; once it is complete, that of all
    };

    /// All references outlive this.
    AllReduceProtocol(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
                      BucketBoard& board, Transport& transport);

    /// This peer's own values are here, and there are others.
    virtual void begin(std::size_t bucket) AKO_NETWORK_THREAD = 0;
    /// The next sync is under way; nothing of it has come.
    virtual void clear(std::size_t bucket) AKO_NETWORK_THREAD = 0;
    /// What is wrong with a chunk of this bucket in this sync or (not `now`) the next, if anything.
    virtual std::optional<std::string> refuse_of(std::size_t bucket, bool now, PeerIndex peer,
                                                 const Chunk& chunk,
                                                 std::size_t count) const AKO_NETWORK_THREAD = 0;
    /// Where its elements are read into.
    virtual std::span<float> memory_of(std::size_t bucket, PeerIndex peer, const Chunk& chunk,
                                       std::size_t count) AKO_NETWORK_THREAD = 0;

    void send(PeerIndex to, std::size_t bucket, const Chunk& chunk, std::size_t count,
              const float* values) AKO_NETWORK_THREAD;
    /// All sums of the bucket are here.
    void complete(std::size_t bucket) AKO_NETWORK_THREAD;

    const Buckets& buckets_;  // constant after construction
    const PeerIndex self_;
    const std::size_t count_;

    std::vector<float> sums_;  ///< [parameter_count]
    std::vector<Sync> syncs_;  ///< [bucket]

  private:
    void begin_sync(std::size_t bucket, const Contribution& own) AKO_NETWORK_THREAD;
    /// Once this sync's sums are used here and sent on, their memory is for the next.
    void advance(std::size_t bucket) AKO_NETWORK_THREAD;

    BucketBoard& board_;
    Transport& transport_;
    std::vector<ChunkQueue> queues_;  ///< [peer]
    BlockedPeers blocked_;            ///< who is ahead
};

}  // namespace ako
