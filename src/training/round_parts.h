// The parts of a round, and how long each took, round by round, in bins that a reader can add up
// over peers and time. Values; one thread.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "ako/types.h"

namespace ako {

enum class RoundPart : std::uint8_t {
    apply,     ///< beginning the round: what has come is taken in
    input,     ///< until the batch is there
    gradient,  ///< computing, without what it awaits
    wait,      ///< for what others send, where a round needs it
    publish,   ///< ending the round: what it taught is given
};

inline constexpr std::array<RoundPart, 5> round_parts = {
    RoundPart::apply, RoundPart::input, RoundPart::gradient, RoundPart::wait, RoundPart::publish};

constexpr const char* word(RoundPart part) {
    constexpr std::array<const char*, round_parts.size()> words = {"apply", "input", "gradient",
                                                                   "wait", "publish"};
    return words.at(static_cast<std::size_t>(part));
}

/// How long one part took, of all rounds.
struct PartDurations {
    /// Seconds. A bin counts what is at most its bound and above the one before; the last bin, of
    /// which there is one more, the rest.
    static constexpr std::array<double, 12> bounds = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02,
                                                      0.05,   0.1,   0.2,   0.5,   1,    5};
    std::array<std::uint64_t, bounds.size() + 1> counts{};
    double seconds = 0;  ///< all together

    void add(Time duration) {
        const double took = seconds_of(duration);
        const auto bin = std::lower_bound(bounds.begin(), bounds.end(), took) - bounds.begin();
        ++counts.at(static_cast<std::size_t>(bin));
        seconds += took;
    }
    bool operator==(const PartDurations&) const = default;
};

class RoundParts {
  public:
    PartDurations& operator[](RoundPart part) { return parts_.at(static_cast<std::size_t>(part)); }
    const PartDurations& operator[](RoundPart part) const {
        return parts_.at(static_cast<std::size_t>(part));
    }
    /// In the exchange: apply, wait and publish together.
    double exchange_seconds() const {
        return (*this)[RoundPart::apply].seconds + (*this)[RoundPart::wait].seconds +
               (*this)[RoundPart::publish].seconds;
    }

  private:
    std::array<PartDurations, round_parts.size()> parts_;
};

}  // namespace ako
