// The round times of one peer: where the time of its rounds went. Told the moments of each round by
// who has a clock; decides nothing. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "ako/types.h"
#include "src/numbers/durations.h"
#include "src/training/round_parts.h"

namespace ako {

/// The moments of a round, in this order; the awaits come as often as the network has layers that
/// read parameters, and once more for each range whose gradient makes way for itself, all within
/// the gradient.
enum class RoundMoment {
    begun,           ///< begin_round is about to be called
    may_train,       ///< it has returned and a round is to be made
    gradient_begun,  ///< the batch is there
    await_begun,
    await_ended,
    gradient_ended,  ///< end_round is about to be called
    ended,           ///< it has returned; what is done before the next begins is of no round
};

class RoundTimes {
  public:
    /// The first rounds find cold caches and links that nobody has used yet: so many are left out
    /// of the quantiles, sums and shares ..
    static constexpr std::size_t warm_up_rounds = 5;
    /// .. of a run of more rounds than this.
    static constexpr std::size_t warm_up_applies_above = 20;

    void reached(RoundMoment moment, Time now);

    /// Rounds that have ended.
    std::size_t rounds() const { return rounds_; }
    /// The beginning of the first round: when it might train, the wait for the others at the start
    /// not counted. Nothing before it.
    std::optional<Time> began_at() const { return began_at_; }
    /// From there to the end of the last round.
    Time training() const { return began_at_ ? ended_at_ - *began_at_ : Time{}; }

    struct Figures {
        Durations round;
        Durations gradient;  ///< inside Network::gradient, without what it awaited
        Durations wait;      ///< in begin_round, await and end_round together
        /// The gradients' part of the rounds, 0 .. 1.
        double compute_share() const;
    };
    Figures figures() const;
    /// The parts of all rounds, the first ones too.
    const RoundParts& parts() const { return all_; }

  private:
    struct Parts {
        Time round{};
        Time apply{};
        Time input{};
        Time gradient{};
        Time awaited{};  ///< within the gradient
        Time publish{};
        Time wait() const { return apply + awaited + publish; }
    };
    static void add(Figures& figures, const Parts& parts);

    std::size_t rounds_ = 0;
    std::optional<Time> began_at_;
    Time ended_at_{};
    Parts parts_;         ///< of the round that is being made
    Time round_begun_{};  ///< of this round; likewise the next four
    Time may_train_{};
    Time gradient_begun_{};
    Time await_begun_{};
    Time gradient_ended_{};
    std::array<Parts, warm_up_rounds> first_;
    Figures later_;
    RoundParts all_;
};

}  // namespace ako
