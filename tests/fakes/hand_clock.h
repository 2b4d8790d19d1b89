// A clock that a test sets. It stands still until then. Any thread.
#pragma once

#include <atomic>

#include "ako/clock.h"

namespace ako::test {

class HandClock final : public Clock {
  public:
    HandClock() = default;
    explicit HandClock(Time at) : at_(at.count()) {}

    Time now() const override { return Time{at_.load()}; }
    void set(Time to) { at_ = to.count(); }
    void advance(Time by) { at_ += by.count(); }

  private:
    std::atomic<Time::rep> at_{Time(std::chrono::seconds(1)).count()};  // 0 stands for "never"
};

}  // namespace ako::test
