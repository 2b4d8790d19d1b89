// Which ballots can be meant. Their numbers are compared, so that whoever named the highest there
// is would end all agreement. Pure; any thread.
#pragma once

#include <cstdint>

#include "ako/membership.h"

namespace ako {

/// A ballot is plausible if it is at most so far above the highest seen here. Each proposal, and
/// each vote that is asked for, raises the numbers by one, a few seconds apart at the least, and a
/// process that has just begun follows from 0 on: this is one a second for twelve days.
inline constexpr std::uint32_t ballot_step_max = std::uint32_t{1} << 20;
/// And at most so high: proposals are made above it, and their numbers never wrap.
inline constexpr std::uint32_t ballot_number_max = std::uint32_t{1} << 30;

constexpr bool is_plausible(const Ballot& ballot, const Ballot& highest_seen) {
    return ballot.number <= ballot_number_max &&
           ballot.number <= highest_seen.number + ballot_step_max;
}

}  // namespace ako
