// Do two checkpoints hold the same? Bit for bit: numbers that no comparison finds equal, such as
// NaN, are the same where their bits are. What is of one start alone (its number, marks, when it
// was written) does not count. A function; any thread.
#pragma once

#include <string>

#include "ako/checkpoint.h"

namespace ako {

/// What differs first, for people: "3,201 of 431,080 values of velocity"; empty: nothing.
std::string difference_of(const Checkpoint& one, const Checkpoint& other);

}  // namespace ako
