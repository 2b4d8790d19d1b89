// How long nothing has come from the other end of a session, and how much of that is its own doing:
// while we do not read, nothing can be heard, and a thread that did not get the processor did not
// look.
//
// Pure, with explicit time; one thread at a time. Lifetime: that of its session.
#pragma once

#include <optional>

#include "ako/types.h"

namespace ako {

class Silence {
  public:
    explicit Silence(Time now) : silent_since_(now), newest_byte_at_(now) {}

    /// Something has come.
    void heard(Time now);
    /// From now on nothing is read; nothing if that was so before.
    void stop_reading(Time now);
    /// It is read again; nothing if it was.
    void read_again(Time now);
    /// For so long this thread did not look: no silence of the peer. What was read since then has
    /// begun the silence anew, which so never begins later than now.
    void excuse(Time gap, Time now);

    bool reads() const { return !unread_since_; }
    /// How long nothing has come although we read.
    Time lasts(Time now) const;
    /// How long nothing has come, whether we read or not.
    Time lasts_unread(Time now) const { return now - newest_byte_at_; }
    Time newest_byte_at() const { return newest_byte_at_; }

  private:
    Time silent_since_;  ///< the newest byte, moved on by the time in which we did not read
    Time newest_byte_at_;
    std::optional<Time> unread_since_;
};

}  // namespace ako
