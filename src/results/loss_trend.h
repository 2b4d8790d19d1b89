// The trend of a run's losses: the first ones against the newest, in one process of one peer.
// One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace ako {

class LossTrend {
  public:
    /// Losses at either end that count: one batch says little.
    static constexpr std::size_t losses_of_an_end = 20;
    /// A peer that begins later than at this share of the budget has no trend: it takes over a
    /// model that others have trained, and beside its tiny losses any noise is large.
    static constexpr double begins_late = 0.1;

    /// Takes the loss of the round that brought the run to `progress`, unless it is not finite.
    void add(float loss, double progress);

    struct Ends {
        double first = 0;  ///< of the model as it was before any step
        double largest_of_first = 0;
        double newest = 0;  ///< the median
    };
    /// Nothing before there are as many after the first, or if it began late.
    std::optional<Ends> ends() const;

  private:
    std::optional<float> first_;
    float largest_of_first_ = 0;
    std::array<float, losses_of_an_end> newest_{};  ///< a ring: loss k is at k % its size
    std::size_t count_ = 0;                         ///< of those after the first
    bool late_ = false;
};

}  // namespace ako
