// The steps of a butterfly of n peers, as one of them sees it: its partners, and what they
// exchange. A value, constant after construction; any thread.
//
// The m first peers, m being the largest power of two that is not above n, hold m equal parts of a
// bucket in the end, each its own. In each of lg m steps two peers share what both have summed up
// so far: one goes on with the lower half of it, the other with the upper half. The peers beyond m
// are surplus: peer m + k has one step, with peer k, which takes all it has before its own steps.
// When all is summed up, each step is made once more from the last to the first, the other way
// round.
#pragma once

#include <bit>
#include <cstddef>
#include <optional>
#include <vector>

#include "ako/types.h"

namespace ako {

class ButterflySteps {
  public:
    /// So many of these peers, the first, are not surplus.
    static std::size_t own_of(std::size_t peer_count) { return std::bit_floor(peer_count); }

    ButterflySteps(PeerIndex self, std::size_t peer_count) : parts_(own_of(peer_count)) {
        const auto own = static_cast<PeerIndex>(parts_);
        const Range all{0, parts_};
        if (self >= own) {
            steps_.push_back({self - own, {}, all});
            return;
        }
        if (self + own < peer_count) steps_.push_back({self + own, all, {}});
        Range held = all;
        for (PeerIndex half = own / 2; half > 0; half /= 2) {
            const Range lower{held.first, half};
            const Range upper{held.first + half, half};
            const bool above = (self & half) != 0;
            steps_.push_back({self ^ half, above ? upper : lower, above ? lower : upper});
            held = steps_.back().keeps;
        }
    }

    /// Steps of this peer.
    std::size_t count() const { return steps_.size(); }
    PeerIndex partner(std::size_t step) const { return steps_[step].partner; }
    /// The step with this peer; each has another.
    std::optional<std::size_t> with(PeerIndex peer) const {
        for (std::size_t step = 0; step < steps_.size(); ++step)
            if (steps_[step].partner == peer) return step;
        return std::nullopt;
    }
    /// What of a bucket this peer goes on with: it takes the partner's values of that, and later
    /// gives it the sums.
    Range keeps(std::size_t step, Range bucket) const { return cut(steps_[step].keeps, bucket); }
    /// What the partner goes on with.
    Range gives(std::size_t step, Range bucket) const { return cut(steps_[step].gives, bucket); }

    /// So many vectors this peer sends in one all-reduce.
    double sent() const {
        std::size_t parts = 0;
        for (const Step& step : steps_) parts += step.gives.count + step.keeps.count;
        return static_cast<double>(parts) / static_cast<double>(parts_);
    }
    /// So many it has to keep aside until they are added: all that comes to be added in its steps
    /// but the first, in which the memory of the sums is free.
    double kept_aside() const {
        std::size_t parts = 0;
        for (std::size_t step = 1; step < steps_.size(); ++step) parts += steps_[step].keeps.count;
        return static_cast<double>(parts) / static_cast<double>(parts_);
    }

  private:
    struct Step {
        PeerIndex partner = 0;
        Range keeps;  ///< parts
        Range gives;
    };

    Range cut(Range parts, Range bucket) const {
        const std::size_t first = bucket.count * parts.first / parts_;
        const std::size_t end = bucket.count * (parts.first + parts.count) / parts_;
        return {bucket.first + first, end - first};
    }

    std::size_t parts_;
    std::vector<Step> steps_;
};

}  // namespace ako
