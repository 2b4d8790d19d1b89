// How many lines strangers may have in the log: a burst in which a person finds what happened, then
// few, whatever they say. What was left out is counted, and the count is said.
// Pure, with explicit time; one thread at a time.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "ako/types.h"

namespace ako {

class LineLimit {
  public:
    static constexpr unsigned burst = 20;
    /// One more line each so often, up to the burst again: under an endless flood less than 20 MB a
    /// day.
    static constexpr Time refill = std::chrono::seconds(1);
    static constexpr Time summary_interval = std::chrono::seconds(10);

    /// May another line be written? If not, it is counted.
    bool allows(Time now) {
        const auto due = (now - refilled_at_) / refill;
        if (due > 0) {
            lines_ = static_cast<unsigned>(std::min<std::int64_t>(burst, lines_ + due));
            refilled_at_ = now;
        }
        if (lines_ == 0) {
            if (left_out_++ == 0) left_out_since_ = now;
            return false;
        }
        --lines_;
        return true;
    }

    /// A line that says how many were left out, `summary_interval` after the first of them.
    std::optional<std::string> summary(Time now) {
        if (left_out_ == 0 || now - left_out_since_ < summary_interval) return std::nullopt;
        return fmt::format("{} lines about connections that came to nothing were left out",
                           std::exchange(left_out_, 0));
    }

  private:
    unsigned lines_ = burst;
    std::uint64_t left_out_ = 0;
    Time refilled_at_{};
    Time left_out_since_{};
};

}  // namespace ako
