// What is far beyond what is usual: how often it is found where one peer's numbers explode, and how
// often something ordinary is taken for it, by mode and by kind of fault, in virtual time.
#pragma once

#include <cstdint>

namespace ako::sim {

/// Prints a table. Exit status: 0 if all that is far beyond was found, with its owner alone, and
/// nothing ordinary was; else 1.
int run_growth(std::uint64_t first, std::uint64_t count);

}  // namespace ako::sim
