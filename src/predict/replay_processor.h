// The processor of one machine in the replay: two threads, of which each runs at full speed while
// the machine's group may, and a quota that is filled anew with every period, as the kernel's
// bandwidth control does (cpu.cfs_quota_us, cpu.max). A value; one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ako {

class ReplayProcessor {
  public:
    enum Thread { compute, network };

    ReplayProcessor() = default;
    /// Of each period `lost_s` of the quota brings nothing. `period_s` 0: no more than `cores` run
    /// at any moment, and nobody is stalled. Periods begin at `phase_s`.
    ReplayProcessor(double cores, double period_s, double phase_s, double lost_s = 0)
        : cores_(cores),
          period_(period_s),
          lost_(lost_s),
          refill_at_(phase_s > 0 ? phase_s : period_s) {
        left_ = quota();
    }

    /// The thread, which does nothing, is to run for so long.
    void start(Thread thread, double now, double seconds) {
        pass(now);
        work_[thread] = std::max(0.0, seconds);
        busy_[thread] = true;
        ++stamp_;
    }
    /// Time goes on to `now`, which is not beyond the next change.
    void pass(double now) {
        const double speed = this->speed();
        const double ran = std::max(0.0, now - at_) * speed;
        for (const Thread thread : {compute, network})
            if (busy_[thread]) work_[thread] = std::max(0.0, work_[thread] - ran);
        ran_ += ran * running();
        if (period_ > 0) {
            left_ = std::max(0.0, left_ - ran * running());
            if (left_ < tiny) left_ = 0;
            while (now >= refill_at_ - tiny) {
                left_ = quota();
                refill_at_ += period_;
            }
        }
        at_ = now;
        ++stamp_;
    }
    /// When something changes by itself; infinite if nothing runs.
    double next_change(double now) {
        pass(now);
        if (running() == 0) return std::numeric_limits<double>::infinity();
        const double speed = this->speed();
        if (speed == 0) return refill_at_;
        double next = std::numeric_limits<double>::infinity();
        for (const Thread thread : {compute, network})
            if (busy_[thread]) next = std::min(next, now + work_[thread] / speed);
        if (period_ > 0) next = std::min({next, now + left_ / running(), refill_at_});
        return next;
    }
    /// True, once, if the thread has just done what it was to do.
    bool take_done(Thread thread) {
        if (!busy_[thread] || work_[thread] > tiny) return false;
        busy_[thread] = false;
        ++stamp_;
        return true;
    }
    /// Seconds that both threads ran so far, together.
    double ran() const { return ran_; }
    /// Changes with every call that may change what comes next.
    std::uint64_t stamp() const { return stamp_; }

  private:
    /// Less is nothing: a nanosecond, which a double tells apart for weeks.
    static constexpr double tiny = 1e-9;

    double quota() const { return std::max(0.1 * cores_ * period_, cores_ * period_ - lost_); }
    int running() const { return (busy_[compute] ? 1 : 0) + (busy_[network] ? 1 : 0); }
    double speed() const {
        if (running() == 0) return 0;
        if (period_ > 0) return left_ > 0 ? 1 : 0;
        return std::min(1.0, cores_ / running());
    }

    double cores_ = 1;
    double period_ = 0;
    double lost_ = 0;
    double refill_at_ = 0;
    double left_ = 0;
    double at_ = 0;
    double ran_ = 0;
    std::array<double, 2> work_{};
    std::array<bool, 2> busy_{};
    std::uint64_t stamp_ = 0;
};

}  // namespace ako
