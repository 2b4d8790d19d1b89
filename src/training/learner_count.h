// How many learners a peer trains where nobody has said it (`training.learners: auto`): as many as
// bring samples per second. One more is tried, and stays if they rise by more than a threshold;
// when they fall, by a processor's quota or by others on the machine, one fewer is tried, and stays
// if it does as well. So it goes on all the time; what has not helped is tried again ever more
// seldom. As Crossbow's auto-tuner (Koliousis et al., VLDB 2019, section 3.4), which adds one while
// they rise. Told how long rounds took; no clock. Compute thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ako/types.h"

namespace ako {

class LearnerCount {
  public:
    /// One more is worth its memory if samples per second rise by so much, which is also what they
    /// may be off from one look to the next on a machine that does other things too.
    static constexpr double worth_it = 0.05;
    /// What is no noise any more: something takes the processor away, in two looks one after the
    /// other, or gives it back.
    static constexpr double changed = 0.1;
    /// A look is the median of so many windows, for one hiccup must not decide; each of so long and
    /// so many rounds at least. So an attempt that does not help costs a second.
    static constexpr std::size_t windows_of_look = 5;
    static constexpr Time window_least = std::chrono::milliseconds(200);
    static constexpr std::size_t rounds_of_window = 4;
    /// The first rounds of another number find cold caches.
    static constexpr std::size_t rounds_left_out = 3;
    /// Looks after which one more is tried again, doubled with each attempt that has not helped: in
    /// the end one second in a minute goes into attempts.
    static constexpr unsigned looks_most = 64;

    /// Begins with one learner and has `most` at most.
    explicit LearnerCount(unsigned most) : most_(most) {}

    unsigned count() const { return count_; }

    struct Change {
        unsigned count = 1;  ///< from now on
        bool stays = true;   ///< not one that is only tried, or taken back
        std::string why;     ///< for people
    };
    /// A round of so many samples took so long, without what it waited for others; or, where others
    /// wait for it, with that, and without the samples that they lose by it.
    std::optional<Change> round_made(double samples, Time took);
    /// Not between a number that is only tried and what comes of it?
    bool is_steady() const { return phase_ == Phase::steady; }

  private:
    enum class Phase { steady, more, fewer };

    /// Samples per second of the look that this round completes.
    std::optional<double> look(double samples, Time took);
    std::optional<Change> steady(double rate);
    std::optional<Change> tried_more(double rate);
    std::optional<Change> tried_fewer(double rate);
    Change change(unsigned count, Phase phase, bool stays, std::string why);

    const unsigned most_;
    unsigned count_ = 1;
    Phase phase_ = Phase::steady;
    double usual_ = 0;         ///< samples per second with this number; of an attempt, before it
    bool low_ = false;         ///< the newest look was far below that
    bool goes_on_ = true;      ///< the last attempt helped: another in the same direction
    bool falls_ = false;       ///< that direction is fewer
    unsigned looks_left_ = 0;  ///< until one more is tried again
    unsigned looks_apart_ = 1;

    // The look under way.
    std::size_t left_out_ = 0;
    std::size_t rounds_ = 0;
    double samples_ = 0;
    Time took_{};
    std::vector<double> windows_;
};

}  // namespace ako
