// How fast a link may be written to: a token bucket that decides, and an estimate that sizes
// messages. Both pure, with explicit time; one thread at a time.
#pragma once

#include <cstddef>
#include <limits>

#include "ako/types.h"

namespace ako {

/// A limit in 10^6 bit/s, kept over every window of 1 s. Writers ask when they may write the next
/// slice, write at most a slice, and spend what was written. Over any time t at most
/// rate * (t + 15 ms) is written, so a window of 1 s holds at most 101.5 % of the limit; and a
/// writer that always has something to write loses nothing as long as it is less than
/// 12.5 ms late, which a busy machine needs. (Limits under 1 Mbit/s: a slice does not shrink
/// below one TCP segment, so the bound is one segment looser.)
class TokenBucket {
  public:
    /// No limit.
    TokenBucket() = default;
    /// `mbit` <= 0 is no limit.
    explicit TokenBucket(double mbit);

    bool limited() const { return bytes_per_ns_ > 0; }
    /// 10^6 bit/s; 0 = unlimited.
    double mbit() const { return bytes_per_ns_ * 8e3; }

    /// How much to write at a time.
    std::size_t slice() const { return slice_; }

    /// When a slice may be written; `now` or earlier: at once.
    Time ready_at(Time now) const;

    /// That much was written.
    void spend(std::size_t bytes, Time now);

  private:
    double tokens_at(Time now) const;

    double bytes_per_ns_ = 0;
    std::size_t slice_ = std::numeric_limits<std::size_t>::max();
    double capacity_ = 0;
    double tokens_ = 0;
    Time filled_at_{};
    bool used_ = false;
};

/// How fast a link has been while it was busy, and the message that suits it.
class LinkRate {
  public:
    /// A frame was written to the end; the link has been busy since the last call, or since idle().
    void sent(std::size_t bytes, Time now);
    /// The link has nothing to send: the time until the next frame does not count.
    void idle() { busy_ = false; }

    /// 10^6 bit/s; 0 = not known yet.
    double mbit() const { return mbit_; }

    /// A few milliseconds of the link (of `limit_mbit` if that is less; 0 = no limit), within
    /// 16 KiB and payload_bytes_limit, in whole KiB.
    std::size_t payload_bytes_max(double limit_mbit) const;

  private:
    double mbit_ = 0;
    std::size_t bytes_ = 0;
    Time since_{};
    bool busy_ = false;
};

}  // namespace ako
