// How long an answer of one peer takes at most, from what was seen of it: for so long it is waited
// for before the question is put again, or to another. A question takes a way there and a way back;
// between the two it waits for the compute thread of that peer, which looks between two rounds.
//
// What is seen may be no way and no round at all: a peer, or this process, stood still, or waited
// to begin. So nothing counts for more than twice what was usual until then: once seen it does
// little, and what stays is followed within a few. Compute thread only.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "ako/types.h"

namespace ako {

/// What a measured time stays below, nearly always: the mean and four mean deviations, in which the
/// newest counts an eighth and a quarter (Jacobson, "Congestion avoidance and control", 1988; the
/// same as TCP has it for its round trips, RFC 6298, section 2).
class LongestUsual {
  public:
    /// `least`, `first`: what is usual is taken for no less, and for this before the first.
    LongestUsual(Time least, Time first) : least_(least), first_(first) {}

    void add(Time measured) {
        if (measured < Time{0}) return;  // a clock that was set
        measured = std::min(measured, 2 * std::max(least_, time().value_or(first_)));
        if (!mean_) {
            mean_ = measured;
            deviation_ = measured / 2;
            return;
        }
        const Time off = measured - *mean_;
        deviation_ += (std::chrono::abs(off) - deviation_) / 4;
        *mean_ += off / 8;
    }
    /// Nothing before the first.
    std::optional<Time> time() const {
        if (!mean_) return std::nullopt;
        return *mean_ + 4 * deviation_;
    }

    void forget() { mean_.reset(); }

  private:
    Time least_;
    Time first_;
    std::optional<Time> mean_;
    Time deviation_{};
};

class AnswerTime {
  public:
    /// Before anything was seen.
    static constexpr Time first = std::chrono::milliseconds(500);
    /// A thread of a busy machine may be late by as much, however near the other peer is.
    static constexpr Time least = std::chrono::milliseconds(50);
    /// However long rounds take, nothing waits longer for an answer that another could give.
    static constexpr Time longest = std::chrono::seconds(5);

    void add_round_trip(Time round_trip) { round_trip_.add(round_trip); }
    /// It was in this round when it said so.
    void add_round(Round round, Time at) {
        if (round <= round_) return;
        if (round_ > 0) rounds_.add((at - round_at_) / static_cast<Time::rep>(round - round_));
        round_ = round;
        round_at_ = at;
    }
    /// It has made its last one: nothing keeps it from looking at questions any more.
    void end_rounds() { rounds_.forget(); }
    /// A new session: by another way, or of another process. How long a round takes stays.
    void begin_session() {
        round_trip_.forget();
        round_ = 0;
    }

    /// What was seen, whatever it comes to.
    Time usual() const {
        const std::optional<Time> way = round_trip_.time();
        return way ? *way + rounds_.time().value_or(Time{0}) : first;
    }
    /// For so long an answer is waited for.
    Time time() const { return std::clamp(usual(), least, longest); }

  private:
    LongestUsual round_trip_{least, first};
    LongestUsual rounds_{least, first};  ///< of one
    Round round_ = 0;      ///< the newest heard of in this session; 0 = none
    Time round_at_{};
};

}  // namespace ako
