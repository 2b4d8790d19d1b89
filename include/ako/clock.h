// Where time comes from. Everything that decides is handed a `Time`; only the files that wire hold
// a clock, so the simulator can run the same code in virtual time.
#pragma once

#include "ako/types.h"

namespace ako {

/// A monotonic clock. Callable from any thread.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual Time now() const = 0;
};

/// The clock of this machine.
class SteadyClock final : public Clock {
  public:
    Time now() const override {
        return std::chrono::duration_cast<Time>(
            std::chrono::steady_clock::now().time_since_epoch());
    }
};

}  // namespace ako
