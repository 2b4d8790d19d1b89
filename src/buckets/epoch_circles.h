// The circles of an elastic ring in one epoch: those who held the state when it began make the
// syncs that any of them had begun, all members together make those after. A value; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ako/membership.h"
#include "src/buckets/circle.h"

namespace ako {

class EpochCircles {
  public:
    EpochCircles() = default;
    /// `holdings`: of each member, [peer_count].
    EpochCircles(PeerSet members, const std::vector<Holding>& holdings, PeerIndex self)
        : all_(members, self) {
        PeerSet old = 0;
        for (PeerIndex peer = 0; peer < holdings.size(); ++peer) {
            if (!all_.has(peer) || !holdings[peer].has_state()) continue;
            old |= peer_bit(peer);
            begun_ = std::max(begun_, holdings[peer].begun);
        }
        founds_ = old == 0;
        old_ = founds_ ? all_ : Circle(old, self);
    }

    const Circle& all() const { return all_; }
    /// Those who held the state when it began; of a run that begins all.
    const Circle& old() const { return old_; }
    /// Those who did not.
    PeerSet newcomers() const { return all_.set() & ~old_.set(); }
    /// Does the run begin with it?
    bool founds() const { return founds_; }
    /// The newest sync that anybody had given to.
    std::uint64_t begun() const { return begun_; }
    const Circle& of(std::uint64_t sync) const {
        return newcomers() != 0 && sync <= begun_ ? old_ : all_;
    }

  private:
    Circle all_;
    Circle old_;
    std::uint64_t begun_ = 0;
    bool founds_ = false;
};

}  // namespace ako
