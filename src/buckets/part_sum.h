// The sum of one part of a bucket at the peer that owns it, where everybody's values arrive in any
// order and are added in the order of peers, so that the bits never depend on timing. Network
// thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ako/types.h"

namespace ako {

class PartSum {
  public:
    PartSum() = default;
    /// `part` is what this peer owns.
    PartSum(Range part, PeerIndex self, std::size_t peer_count)
        : part_(part), self_(self), values_(peer_count), arrived_(peer_count) {}

    const Range& part() const { return part_; }
    /// Where another peer's values of these elements of the part are read into.
    std::span<float> memory(PeerIndex peer, Range range) {
        values_[peer].resize(part_.count);
        return std::span(values_[peer]).subspan(range.first - part_.first, range.count);
    }
    void arrived(PeerIndex peer, std::size_t count) { arrived_[peer] += count; }
    std::size_t arrived_from(PeerIndex peer) const { return arrived_[peer]; }

    /// Once all are here: adds them up with this peer's own, [part], into `sum`. False if some are
    /// missing, or if that is done already.
    bool add_up(const float* own, float* sum) {
        if (added_up_) return false;
        for (PeerIndex peer = 0; peer < arrived_.size(); ++peer)
            if (peer != self_ && arrived_[peer] < part_.count) return false;
        for (PeerIndex peer = 0; peer < arrived_.size(); ++peer) {
            const float* const values = peer == self_ ? own : values_[peer].data();
            if (peer == 0)
                std::copy_n(values, part_.count, sum);
            else
                for (std::size_t k = 0; k < part_.count; ++k) sum[k] += values[k];
        }
        added_up_ = true;
        return true;
    }
    /// For the next sync.
    void clear() {
        std::fill(arrived_.begin(), arrived_.end(), 0);
        added_up_ = false;
    }

  private:
    Range part_;
    PeerIndex self_ = 0;
    std::vector<std::vector<float>> values_;  ///< [peer][part elements], made when first used
    std::vector<std::size_t> arrived_;        ///< [peer], elements
    bool added_up_ = false;
};

}  // namespace ako
