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
// A chunk of an earlier epoch is read and dropped. Of a later one none comes: nobody sends before
// all members have said that they are ready. Network thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/membership.h"
#include "ako/payload.h"
#include "ako/threads.h"
#include "ako/transport.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/buckets.h"
#include "src/buckets/chunk_queue.h"
#include "src/buckets/circle.h"
#include "src/buckets/part_sum.h"

namespace ako {

class ElasticRing {
  public:
    /// What a member holds beside sums, [parameter_count] each; `velocity` is empty where the
    /// optimizer remembers nothing.
    struct StateMemory {
        std::span<float> parameters;
        std::span<float> velocity;

        std::size_t elements() const { return parameters.size() + velocity.size(); }
    };

    /// Buckets of at most `straight_bytes_max` go straight. All references outlive this.
    ElasticRing(const Buckets& buckets, PeerIndex self, std::size_t peer_count,
                std::size_t straight_bytes_max, StateMemory state, BucketBoard& board,
                Transport& transport);

    // ---- epochs
    /// This process is in: drops what is under way, and says what it holds.
    Holding enter(std::uint32_t epoch) AKO_NETWORK_THREAD;
    /// It is in no more; what it held is worth nothing.
    void leave() AKO_NETWORK_THREAD;
    /// What each member holds, [peer_count], is known: takes chunks of this epoch, and sends some
    /// from `go` on, when all members know that.
    void begin(PeerSet members, const std::vector<Holding>& holdings) AKO_NETWORK_THREAD;
    void go() AKO_NETWORK_THREAD;
    bool has_state() const AKO_NETWORK_THREAD { return has_state_; }
    /// Has the state after this sync been asked for by somebody who comes in?
    std::optional<std::uint64_t> asked_for() const AKO_NETWORK_THREAD;
    /// Of a newcomer: the sync that it comes in after, how much of the state has come, and whether
    /// that is all.
    std::uint64_t entry_sync() const AKO_NETWORK_THREAD { return entry_sync_; }
    std::uint64_t taken() const AKO_NETWORK_THREAD { return taken_; }
    bool filled() const AKO_NETWORK_THREAD { return begun_here_ && taken_ == state_.elements(); }
    /// Does something of the state wait for this newcomer here, and could go?
    bool owes(PeerIndex peer) const AKO_NETWORK_THREAD;
    /// A newcomer has all of it: from now on it is as any other.
    void come_in() AKO_NETWORK_THREAD { has_state_ = true; }

    // ---- of the compute half
    void contributed(const Contribution& contribution) AKO_NETWORK_THREAD;
    void consumed(std::size_t bucket, std::uint64_t sync) AKO_NETWORK_THREAD;
    /// The sums of syncs of this parity, [parameter_count]: a bucket's part belongs to the compute
    /// thread from its completion on the board to its consumption. Constant.
    std::span<const float> sums(std::uint64_t sync) const { return sums_[sync % 2]; }

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
    /// One sync of one bucket. Of two in a row each has its own memory.
    struct Pass {
        std::uint64_t sync = 0;                            ///< 0: none
        bool begun = false;                                ///< this peer's own values are in
        std::vector<std::pair<Chunk, std::size_t>> early;  ///< partial sums that came before that
        std::size_t reduced = 0;                 ///< elements that have come as partial sums
        std::size_t gathered = 0;                ///< and as whole ones
        std::vector<std::size_t> gathered_from;  ///< [place], if it goes straight
        std::size_t summed = 0;                  ///< elements whose whole sum is here
        Wish wish;
        PeerSet contributors = 0;
        std::size_t busy = 0;     ///< elements being sent from its memory, queued, or read into it
        PartSum part;             ///< if it goes straight
        PeerSet part_of_set = 0;  ///< the circle that `part` was made for
    };
    struct State {
        std::uint64_t held = 0;           ///< the newest sync whose whole sum is here
        std::uint64_t consumed = 0;       ///< and has been used
        std::uint64_t target = 0;         ///< up to here somebody holds the sum
        PeerIndex restorer = 0;           ///< who hands it to this peer, if it lacks it
        std::optional<Contribution> own;  ///< to the one under way
        Pass passes[2];                   ///< by the parity of their syncs
    };
    /// What goes to one newcomer from here.
    struct Serving {
        std::vector<std::size_t> buckets;  ///< that wait, the next one last
        std::size_t sent = 0;              ///< elements of the next one
    };

    bool straight(std::size_t bucket) const AKO_NETWORK_THREAD {
        return payload_bytes_of(buckets_[bucket].count) <= straight_bytes_max_;
    }
    const Circle& circle_of(std::uint64_t sync) const AKO_NETWORK_THREAD {
        return sync <= old_until_ ? old_ : circle_;
    }
    Pass& pass_of(std::size_t bucket, std::uint64_t sync) AKO_NETWORK_THREAD {
        return states_[bucket].passes[sync % 2];
    }
    float* sums_at(std::uint64_t sync, std::size_t element) AKO_NETWORK_THREAD {
        return sums_[sync % 2].data() + element;
    }
    /// The memory of this sync of the bucket is its own. False while it is in use.
    bool prepare(std::size_t bucket, std::uint64_t sync) AKO_NETWORK_THREAD;
    void begin_pass(std::size_t bucket) AKO_NETWORK_THREAD;
    void begin_straight(std::size_t bucket, Pass& pass, const Circle& circle) AKO_NETWORK_THREAD;
    void sum_part(std::size_t bucket, Pass& pass) AKO_NETWORK_THREAD;
    void add_own(std::size_t bucket, const Chunk& chunk, std::size_t count) AKO_NETWORK_THREAD;
    void summed(std::size_t bucket, Pass& pass, std::size_t count,
                const Wish& wish) AKO_NETWORK_THREAD;
    void send_own(PeerIndex to, const Contribution& own, Range range) AKO_NETWORK_THREAD;
    void send_sum(PeerIndex to, std::size_t bucket, const Chunk& chunk,
                  std::size_t count) AKO_NETWORK_THREAD;
    /// `held`: by each peer of `old`, [peer].
    void restore(std::size_t bucket, const std::vector<std::uint64_t>& held,
                 PeerSet old) AKO_NETWORK_THREAD;
    void begin_as_newcomer(std::uint64_t after) AKO_NETWORK_THREAD;
    void serve(PeerSet newcomers, PeerSet old) AKO_NETWORK_THREAD;
    std::optional<OutFrame> next_of_state(PeerIndex peer,
                                          std::size_t payload_bytes_max) AKO_NETWORK_THREAD;
    void drop_flow() AKO_NETWORK_THREAD;
    /// So many elements of the memory of this pass are not in use any more.
    void release(std::size_t bucket, std::uint64_t parity, std::size_t count) AKO_NETWORK_THREAD;
    void release_state(std::uint32_t epoch, std::size_t count) AKO_NETWORK_THREAD;
    void unblock() AKO_NETWORK_THREAD;
    Destination destination(std::uint64_t place, std::span<float> memory) const AKO_NETWORK_THREAD;
    /// Which of the two vectors of sums this lies in; nothing for what is no sum.
    std::optional<std::uint64_t> parity_of(const float* values) const AKO_NETWORK_THREAD;
    void take_sum(PeerIndex peer, const Chunk& chunk, std::size_t count) AKO_NETWORK_THREAD;
    std::optional<std::string> refuse_sum(PeerIndex peer, const Chunk& chunk, std::size_t bucket,
                                          std::size_t count) const AKO_NETWORK_THREAD;

    const Buckets& buckets_;  // constant after construction
    const PeerIndex self_;
    const std::size_t straight_bytes_max_;
    const StateMemory state_;
    BucketBoard& board_;
    Transport& transport_;

    std::vector<float> sums_[2];      ///< [parameter_count] each
    std::vector<State> states_;       ///< [bucket]
    std::vector<ChunkQueue> queues_;  ///< [peer]
    std::vector<Serving> serving_;    ///< [peer]
    std::vector<float> dropped_;      ///< where chunks of earlier epochs are read into
    PeerSet blocked_ = 0;             ///< peers that are not read from for the moment

    std::uint32_t epoch_ = 0;
    bool begun_here_ = false;      ///< this epoch is
    bool going_ = false;           ///< and by all others
    Circle circle_;                ///< all members
    Circle old_;                   ///< those who held the state when it began
    std::uint64_t old_until_ = 0;  ///< the last sync that these make alone
    std::uint64_t begun_ = 0;      ///< the newest sync that this peer gave anything to
    bool has_state_ = false;
    bool late_ = false;  ///< it was a newcomer
    std::uint64_t entry_sync_ = 0;
    std::uint64_t taken_ = 0;
    std::size_t stale_reads_ = 0;  ///< elements of the state being read of an epoch before
    std::size_t reads_ = 0;        ///< and of this one
};

}  // namespace ako
