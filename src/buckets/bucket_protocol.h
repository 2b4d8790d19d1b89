// The seam between BucketTraffic, which knows sessions, and what one mode sends over them: who gets
// which chunk of a bucket, and what is made of those that come. Free of sockets and clocks.
// Network thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ako/checkpoint.h"
#include "ako/threads.h"
#include "ako/transport.h"
#include "src/buckets/bucket_board.h"

namespace ako {

class BucketProtocol {
  public:
    virtual ~BucketProtocol() = default;

    /// A bucket of this peer is ready.
    virtual void contributed(const Contribution& contribution) AKO_NETWORK_THREAD = 0;
    /// The result of this sync of the bucket has been used here.
    virtual void consumed(std::size_t bucket, std::uint64_t sync) AKO_NETWORK_THREAD = 0;
    /// `peer` (or this one) has made its last round.
    virtual void finished(PeerIndex peer, Round final_round) AKO_NETWORK_THREAD = 0;
    /// `peer` is lost or has left, for good.
    virtual void session_over(PeerIndex peer) AKO_NETWORK_THREAD = 0;
    /// This peer wishes the training to stop. (Wishes of those that contribute come with what they
    /// contribute; this is for a server that trains nothing.)
    virtual void stop_wished(StopReason) AKO_NETWORK_THREAD {}
    /// Do chunks go between this peer and that one? Then no frame between them may be missed.
    virtual bool partner(PeerIndex peer) const AKO_NETWORK_THREAD = 0;
    /// Does the run end when this peer is lost?
    virtual bool needs(PeerIndex peer) const AKO_NETWORK_THREAD = 0;

    /// The next chunk for this peer.
    virtual std::optional<OutFrame> next(PeerIndex peer,
                                         std::size_t payload_bytes_max) AKO_NETWORK_THREAD = 0;
    /// What is wrong with this chunk of so many elements from this peer, if anything.
    virtual std::optional<std::string> refuse(PeerIndex peer, const Chunk& chunk,
                                              std::size_t count) const AKO_NETWORK_THREAD = 0;
    /// The final memory of its elements; nothing while that is in use (Transport::resume follows).
    virtual std::optional<std::span<float>> reserve(PeerIndex peer, const Chunk& chunk,
                                                    std::size_t count) AKO_NETWORK_THREAD = 0;
    virtual void arrived(PeerIndex peer, const Chunk& chunk,
                         std::size_t count) AKO_NETWORK_THREAD = 0;

    // What it keeps from one sync to the next.
    /// Compute thread, while every bucket is settled here and this peer has contributed nothing of
    /// the next sync: what is kept does not change before it does.
    virtual void save(Checkpoint&) const {}
    /// Any thread: is all there that `restore` takes?
    virtual Result<void> check(const Checkpoint&) const { return {}; }
    /// Before this peer's first contribution.
    virtual void restore(const Checkpoint&) AKO_NETWORK_THREAD {}

    /// What syncs give, [parameter_count]: a bucket's part belongs to the compute thread from
    /// its completion on the board to its consumption.
    virtual std::span<float> result() = 0;
};

}  // namespace ako
