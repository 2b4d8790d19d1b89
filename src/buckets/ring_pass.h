// One bucket in one sync of a ring, at one peer: what has come of it, what cannot be meant, and
// what is sent on. How sums travel says ring.h; whoever keeps a pass says when it is for the next
// sync, and whether the memory of its sums is free. Lives as long as the protocol that keeps it.
// Network thread only.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ako/frame.h"
#include "ako/threads.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/circle.h"
#include "src/buckets/part_sum.h"

namespace ako {

/// What is summed up, and by whom. The circle outlives the pass.
struct RingBucket {
    std::size_t index = 0;
    Range range;
    const Circle* circle = nullptr;
    bool straight = false;  ///< each part goes to its owner, and from there to everybody
};

class RingPass {
  public:
    /// Where all goes that a pass sends: this peer's own values, or what lies in the sums.
    class Outlet {
      public:
        virtual void send(PeerIndex to, std::size_t bucket, const Chunk& chunk, std::size_t count,
                          const float* values) AKO_NETWORK_THREAD = 0;

      protected:
        ~Outlet() = default;
    };

    /// Nothing of the next sync has come. It is summed up in `sums`, [parameter_count], which
    /// outlives this.
    void clear(const RingBucket& of, float* sums) AKO_NETWORK_THREAD;
    /// What has come is of no use. What is still read into the memory of a part may go on.
    void drop() AKO_NETWORK_THREAD;

    /// Are this peer's own values in?
    bool begun() const AKO_NETWORK_THREAD { return own_.has_value(); }
    /// The strongest that has come; once the sum is whole, that of all.
    const Wish& wish() const AKO_NETWORK_THREAD { return wish_; }
    /// Elements whose whole sum is here.
    std::size_t summed() const AKO_NETWORK_THREAD { return summed_; }

    /// What is wrong with a chunk of this bucket in this sync or (not `now`) a later one, if
    /// anything.
    std::optional<std::string> refuse(const RingBucket& of, bool now, PeerIndex peer,
                                      const Chunk& chunk,
                                      std::size_t count) const AKO_NETWORK_THREAD;
    /// Where its elements are read into.
    std::span<float> memory(PeerIndex peer, const Chunk& chunk,
                            std::size_t count) AKO_NETWORK_THREAD;

    // True: with this the whole sum of the bucket is here.
    bool begin(const Contribution& own, Outlet& outlet) AKO_NETWORK_THREAD;
    bool arrived(PeerIndex peer, const Chunk& chunk, std::size_t count,
                 Outlet& outlet) AKO_NETWORK_THREAD;
    /// So many elements more are whole.
    bool add_whole(std::size_t count, const Wish& wish) AKO_NETWORK_THREAD;

  private:
    bool begin_straight(Outlet& outlet) AKO_NETWORK_THREAD;
    bool sum_part(Outlet& outlet) AKO_NETWORK_THREAD;
    bool add_own(const Chunk& chunk, std::size_t count, Outlet& outlet) AKO_NETWORK_THREAD;
    /// This peer's own values of a range, which nobody's are added to yet.
    void send_own(PeerIndex to, Range range, Outlet& outlet) AKO_NETWORK_THREAD;
    std::optional<std::string> refuse_straight(const RingBucket& of, bool now, PeerIndex peer,
                                               const Chunk& chunk,
                                               std::size_t count) const AKO_NETWORK_THREAD;
    Range part(std::size_t place) const AKO_NETWORK_THREAD {
        return part_of(of_.range, place, of_.circle->count());
    }

    RingBucket of_;
    float* sums_ = nullptr;
    std::optional<Contribution> own_;
    std::vector<std::pair<Chunk, std::size_t>> early_;  ///< partial sums that came before that
    std::size_t reduced_ = 0;                           ///< elements that have come as partial sums
    std::size_t gathered_ = 0;                          ///< and as whole ones
    std::vector<std::size_t> gathered_from_;            ///< [place], if it goes straight
    std::size_t summed_ = 0;
    Wish wish_;
    PartSum part_;             ///< if it goes straight
    PeerSet part_of_set_ = 0;  ///< the circle that `part_` was made for
};

}  // namespace ako
