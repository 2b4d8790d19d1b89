// What this peer is about to give to the others is held against what is usual: a gradient or an
// update that is far larger than any before it is refused, before it enters a row or a sum.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ako/types.h"
#include "src/exchange/roster.h"

namespace ako {

/// The rule looks at the Euclidean norm of what a round gave. L is the largest norm of this peer's
/// rounds so far. M is the median of the largest norms that the others tell (Status), counting
/// those that have made at least half as many rounds. A round is refused
///     if its norm is above `growth_max` times the larger of L and M; or
///     if it is above L and above `growth_max` times M, where at least two others tell: so growth
///     by a little in each round is found as well.
/// Nothing is refused as long as neither L nor M is known, nor, in the first `few_rounds` of a
/// process, what is no larger than the parameters themselves: a peer that begins with a trained
/// model may have gradients of nearly nothing before the first batch that it does not fit. The
/// largest, and not the usual: once a model fits its data most gradients vanish, and one batch that
/// it does not fit is no fault. Compute thread only.
class GrowthWatch {
  public:
    /// `growth_max` 0: nothing is refused.
    explicit GrowthWatch(double growth_max) : growth_max_(growth_max) {}
    static constexpr Round few_rounds = 20;

    /// Looks at a part of what the round `round` gives; in a round every element once. Why it is
    /// refused, for people; nothing: it is not, or it is not finite, which modes refuse themselves.
    /// `peers`: what is known of the others, null where there are none; `parameters`: what it is to
    /// change.
    std::optional<std::string> look(std::span<const float> part, const char* noun, Round round,
                                    const Roster* peers, std::span<const float> parameters);
    /// Elements of the round under way that were looked at.
    std::size_t looked_at() const { return looked_at_; }
    /// Forgets the round under way; `made`: it was given, and counts as usual from now on.
    void end_round(bool made);

    /// L, which the others are told; 0: not known yet.
    float largest() const { return largest_; }
    /// A process that goes on from a checkpoint goes on with it.
    void restore(float largest) {
        largest_ = largest;
        made_ = few_rounds;
    }

  private:
    /// M; nothing: nobody tells. `many`: at least two do.
    struct Others {
        double median = 0;
        bool many = false;
    };
    static std::optional<Others> others(const Roster& peers, Round round);

    const double growth_max_;
    float largest_ = 0;
    Round made_ = 0;      ///< rounds that this process has given
    double squares_ = 0;  ///< sum over the round under way
    std::size_t looked_at_ = 0;
};

}  // namespace ako
