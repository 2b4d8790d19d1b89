// How much of a vector is ready, counted from its end: back-propagation finishes its layers from
// the last to the first, hardly ever in another order. A value; one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "ako/types.h"

namespace ako {

class ReadyEnd {
  public:
    explicit ReadyEnd(std::size_t element_count) : from_(element_count) {}

    /// This range is ready, which was not. All from the returned element on is.
    std::size_t add(Range range) {
        apart_.push_back(range);
        const auto joins = [this](Range it) { return it.first + it.count == from_; };
        for (auto it = std::ranges::find_if(apart_, joins); it != apart_.end();
             it = std::ranges::find_if(apart_, joins)) {
            from_ = it->first;
            apart_.erase(it);
        }
        return from_;
    }

  private:
    std::size_t from_;
    std::vector<Range> apart_;  ///< ready, and something behind them is not
};

}  // namespace ako
