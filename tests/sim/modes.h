// What ring, parameter server, local SGD and model averaging promise, over random scenarios in
// virtual time.
#pragma once

#include <cstdint>

namespace ako::sim {

/// Runs `count` seeds from `first` on; 0 if all held, else 1 after saying which did not.
int run_modes(std::uint64_t first, std::uint64_t count, bool verbose);

}  // namespace ako::sim
