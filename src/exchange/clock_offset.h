// How far the clock of another peer is from ours, from the Status frames that come anyway.
#pragma once

#include <algorithm>
#include <optional>

#include "ako/types.h"

namespace ako {

/// The shortest way seen is the one without queueing, so that arrival less sending, at its minimum,
/// is the offset plus the idle transit; half the shortest round trip is taken as that transit
/// (Cristian, 1989). The minimum is of the last one to two windows, so that drift is followed.
/// Compute thread only.
class ClockOffset {
  public:
    static constexpr Time window = std::chrono::seconds(30);  // drift of 50 ppm in it: 1.5 ms

    /// A Status was sent at `sent_at` (their clock) and came at `arrived_at` (ours).
    void add_arrival(Time sent_at, Time arrived_at) {
        if (!window_end_ || arrived_at > *window_end_) {
            before_ = newest_;
            newest_.reset();
            window_end_ = arrived_at + window;
        }
        const Time difference = arrived_at - sent_at;
        newest_ = newest_ ? std::min(*newest_, difference) : difference;
    }

    /// An echo closed a round trip.
    void add_round_trip(Time round_trip) {
        if (round_trip < Time{0}) return;
        round_trip_ = round_trip_ ? std::min(*round_trip_, round_trip) : round_trip;
    }

    /// A moment of their clock in ours; nothing before the first arrival.
    std::optional<Time> to_local(Time theirs) const {
        if (!newest_ && !before_) return std::nullopt;
        Time shortest = newest_ ? *newest_ : *before_;
        if (before_) shortest = std::min(shortest, *before_);
        return theirs + shortest - round_trip_.value_or(Time{0}) / 2;
    }

    std::optional<Time> round_trip() const { return round_trip_; }

  private:
    std::optional<Time> newest_;      ///< minimum of the window under way
    std::optional<Time> before_;      ///< minimum of the window before
    std::optional<Time> window_end_;  ///< ours
    std::optional<Time> round_trip_;
};

}  // namespace ako
