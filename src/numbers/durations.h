// Durations: very many of them, of which the sum and quantiles are asked. Counted in bins that are
// each half a percent wider than the one before, so that memory does not grow with the length of a
// run and a quantile is right within a quarter of a percent. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ako/types.h"

namespace ako {

class Durations {
  public:
    Durations();

    /// None is negative.
    void add(Time duration);

    std::uint64_t count() const { return count_; }
    Time sum() const { return sum_; }
    /// The duration that this share (0 .. 1) of all is at most; 0 if there are none.
    Time quantile(double share) const;

  private:
    std::vector<std::uint64_t> bins_;
    std::uint64_t count_ = 0;
    Time sum_{};
};

}  // namespace ako
