// How old the newest partials of one link were when they arrived: from the moment at which their
// sender bound them to the send, to their last byte. A value; one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "ako/types.h"

namespace ako {

/// Keeps the newest `count_max` ages, about a second of a link of 20 Mbit/s, and gives their
/// median.
class RecentAges {
  public:
    static constexpr std::size_t count_max = 64;

    /// An age below zero, which an estimate of two clocks may give, counts as none.
    void add(Time age) {
        ages_[next_] = std::max(age, Time{0});
        next_ = (next_ + 1) % count_max;
        count_ = std::min(count_ + 1, count_max);
    }

    /// 0 before the first.
    Time median() const {
        if (count_ == 0) return Time{0};
        std::array<Time, count_max> sorted = ages_;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count_ / 2);
        std::nth_element(sorted.begin(), middle,
                         sorted.begin() + static_cast<std::ptrdiff_t>(count_));
        return *middle;
    }

  private:
    std::array<Time, count_max> ages_{};
    std::size_t next_ = 0;
    std::size_t count_ = 0;
};

}  // namespace ako
