// The newest of many times, and their median: how old partials are when they arrive, what rounds
// take of the processor. A value; one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "ako/types.h"

namespace ako {

/// Keeps the newest `kept`.
template <std::size_t kept>
class RecentTimes {
  public:
    static constexpr std::size_t count_max = kept;

    /// A time below zero, which an estimate of two clocks may give, counts as none.
    void add(Time time) {
        times_[next_] = std::max(time, Time{0});
        next_ = (next_ + 1) % count_max;
        count_ = std::min(count_ + 1, count_max);
    }

    bool full() const { return count_ == count_max; }

    /// 0 before the first.
    Time median() const {
        if (count_ == 0) return Time{0};
        std::array<Time, count_max> sorted = times_;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count_ / 2);
        std::nth_element(sorted.begin(), middle,
                         sorted.begin() + static_cast<std::ptrdiff_t>(count_));
        return *middle;
    }

  private:
    std::array<Time, count_max> times_{};
    std::size_t next_ = 0;
    std::size_t count_ = 0;
};

/// Ages of the newest partials of one link, from the moment at which their sender bound them to the
/// send, to their last byte: about a second of a link of 20 Mbit/s.
using RecentAges = RecentTimes<64>;

}  // namespace ako
