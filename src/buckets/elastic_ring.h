// Ring all-reduce of buckets among peers that come and go, as in Horovod Elastic and torchft. The
// sums travel as in ring.h, among the members of one *epoch*; what is added here is how to go on in
// the next:
//
//   hold      a whole sum is kept until the sync after the next needs its memory: there is room for
//             two. A member gives to sync s + 1 of a bucket only when it has used the sum of s, so
//             what any two members hold of a bucket differs by one sync at most, and who is ahead
//             still has what the other lacks.
//   enter     what is under way in the epoch before is dropped, and the holding said.
//   begin     once all know what all hold: a bucket that is whole at any member is done, and who
//             holds it hands it to those who lack it. One that is whole at none is reduced again,
//             from the same gradients, which lie where they lay: no gradient is used twice or half.
//             Each sum says whose gradients are in it.
//   newcomer  is handed parameters and velocity after the newest sync that anybody had begun, each
//             bucket by one member, as soon as that one has used the sum of this sync, and before
//             anything of the next. No member can come past it before the newcomer has given its
//             first gradient: so the state stands still while it is copied, and the others compute
//             meanwhile.
//
// A chunk of an earlier epoch is read and dropped. None comes of a later one: nobody sends before
// all members have said that they are ready. This is the way in: where a process stands in an
// epoch, and to which of its parts a chunk goes. The sums are ElasticSums' business, a newcomer's
// state that of StateHandover. Network thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/membership.h"
#include "ako/threads.h"
#include "ako/transport.h"
#include "src/buckets/blocked_peers.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/buckets.h"
#include "src/buckets/elastic_sums.h"
#include "src/buckets/epoch_circles.h"
#include "src/buckets/epoch_queues.h"
#include "src/buckets/state_handover.h"

namespace ako {

class ElasticRing {
  public:
    /// Buckets of at most `straight_bytes_max` go straight. All references outlive this.
    ElasticRing(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
                std::size_t straight_bytes_max, StateHandover::Memory state, BucketBoard& board,
                Transport& transport);

    // ---- epochs
    /// This process is in: drops what is under way, and says what it holds.
    Holding enter(std::uint32_t epoch) AKO_NETWORK_THREAD;
    /// It is in no more; what it held is worth nothing.
    void leave() AKO_NETWORK_THREAD;
    /// What each member holds, [peer_count], is known: takes chunks of this epoch, and sends some
    /// from `go` on, when all members know that.
    void begin(PeerSet members, const std::vector<Holding>& holdings) AKO_NETWORK_THREAD;
    void go() AKO_NETWORK_THREAD { queues_.go(); }
    bool has_state() const AKO_NETWORK_THREAD { return has_state_; }
    /// Has the state after this sync been asked for by somebody who comes in?
    std::optional<std::uint64_t> asked_for() const AKO_NETWORK_THREAD;
    /// A newcomer comes in after this sync; so many elements of the state have come; all have.
    std::uint64_t entry_sync() const AKO_NETWORK_THREAD { return handover_.sync(); }
    std::uint64_t taken() const AKO_NETWORK_THREAD { return handover_.taken(); }
    bool filled() const AKO_NETWORK_THREAD { return begun_here_ && handover_.filled(); }
    /// Does something of the state wait for this newcomer here, and could go?
    bool owes(PeerIndex peer) const AKO_NETWORK_THREAD { return handover_.owes(peer); }
    /// A newcomer has all of it: from now on it is as any other.
    void come_in() AKO_NETWORK_THREAD {
        has_state_ = true;
        sums_.come_in();
    }

    // ---- of the compute half
    void contributed(const Contribution& contribution) AKO_NETWORK_THREAD;
    void consumed(std::size_t bucket, std::uint64_t sync) AKO_NETWORK_THREAD;
    /// The sums of syncs of this parity, [parameter_count]: a bucket's part belongs to the compute
    /// thread from its completion on the board to its consumption. Constant.
    std::span<const float> sums(std::uint64_t sync) const { return sums_.of(sync); }

    // ---- of the transport
    std::optional<OutFrame> next(PeerIndex peer, std::size_t payload_bytes_max) AKO_NETWORK_THREAD;
    std::optional<std::string> refuse(PeerIndex peer, const Chunk& chunk,
                                      std::size_t count) const AKO_NETWORK_THREAD;
    /// Nothing while its memory is in use (Transport::resume follows).
    std::optional<Destination> reserve(PeerIndex peer, const Chunk& chunk,
                                       std::size_t count) AKO_NETWORK_THREAD;
    void arrived(PeerIndex peer, const Chunk& chunk, const Destination& destination,
                 std::size_t count) AKO_NETWORK_THREAD;
    void abandoned(const Destination& destination, std::size_t count) AKO_NETWORK_THREAD;

  private:
    /// What is under way is over with its epoch.
    void drop() AKO_NETWORK_THREAD;
    /// `place`: says what its memory belongs to, when it has been read into.
    Destination destination(std::uint64_t place, std::span<float> memory) const AKO_NETWORK_THREAD;
    /// Is this what has been reserved in this epoch?
    bool is_of_now(const Destination& destination) const AKO_NETWORK_THREAD;

    const Buckets& buckets_;  // constant after construction
    const PeerIndex self_;

    BlockedPeers blocked_;
    EpochQueues queues_;
    EpochCircles circles_;
    ElasticSums sums_;
    StateHandover handover_;
    std::vector<float> dropped_;  ///< where chunks of earlier epochs are read into

    bool begun_here_ = false;  ///< this epoch is
    bool has_state_ = false;
    bool late_ = false;        ///< it was a newcomer
    std::uint64_t begun_ = 0;  ///< the newest sync that this peer gave anything to
};

}  // namespace ako
