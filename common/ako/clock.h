// Where time comes from. Everything that decides is handed a `Time`; only the files that wire hold
// a clock, so the simulator can run the same code in virtual time.
#pragma once

#include <chrono>
#include <ctime>

#include "ako/types.h"

namespace ako {

/// A monotonic clock. Callable from any thread.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual Time now() const = 0;
    /// Processor time that this process has used so far, in all its threads; 0: not measured.
    virtual Time processor_time() const { return Time{0}; }
};

/// The clock of this machine.
class SteadyClock final : public Clock {
  public:
    Time now() const override {
        return std::chrono::duration_cast<Time>(
            std::chrono::steady_clock::now().time_since_epoch());
    }
    Time processor_time() const override {
        const std::clock_t used = std::clock();
        if (used == -1) return Time{0};
        return Time{static_cast<Time::rep>(used) * (Time::period::den / CLOCKS_PER_SEC)};
    }
};

}  // namespace ako
