// `ako check`: what a cluster file comes to, without starting anything.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"

namespace ako {

/// Prints the network as a list of layers, each with its output and parameters, in a form that can
/// stand in a cluster file. Reads no data. Throws StartupError.
ExitStatus check_model(const std::string& file, const std::vector<std::string>& overrides);

/// Prints the resolved settings, the network's tensors, the memory of one peer term by term,
/// samples and rounds of each peer, what the links carry, and warnings; of a plan for `ako
/// compare`, what it tries. Throws StartupError for whatever would keep the training from starting.
ExitStatus check(const std::string& file, const std::vector<std::string>& overrides);

}  // namespace ako
