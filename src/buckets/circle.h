// The peers that sum up one sync of a ring together, in the order of the cluster file, closed to a
// circle: all of the file, or of an elastic ring those who contribute. A value; any thread.
#pragma once

#include <algorithm>
#include <vector>

#include "ako/assert.h"
#include "ako/types.h"

namespace ako {

class Circle {
  public:
    Circle() = default;
    Circle(PeerSet members, PeerIndex self) : set_(members) {
        for (PeerIndex peer = 0; peer < peers_max; ++peer) {
            if (!(members & peer_bit(peer))) continue;
            if (peer == self) place_ = members_.size();
            members_.push_back(peer);
        }
    }

    PeerSet set() const { return set_; }
    bool has(PeerIndex peer) const { return (set_ & peer_bit(peer)) != 0; }
    std::size_t count() const { return members_.size(); }
    /// This peer's; parts of buckets are numbered so.
    std::size_t place() const { return place_; }
    std::size_t place_of(PeerIndex peer) const {
        const auto found = std::lower_bound(members_.begin(), members_.end(), peer);
        AKO_ASSERT(found != members_.end() && *found == peer, "not of this circle");
        return static_cast<std::size_t>(found - members_.begin());
    }
    /// So many places after this peer.
    PeerIndex after(std::size_t steps) const {
        return members_[(place_ + steps) % members_.size()];
    }
    PeerIndex successor() const { return after(1); }
    PeerIndex predecessor() const { return after(count() - 1); }
    /// Places from the start of a segment to this peer.
    std::size_t hops(std::size_t segment) const { return (place_ + count() - segment) % count(); }

  private:
    PeerSet set_ = 0;
    std::size_t place_ = 0;
    std::vector<PeerIndex> members_;
};

}  // namespace ako
