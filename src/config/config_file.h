// The text of a file of settings: a cluster file, or a plan of `ako compare`. Any thread.
#pragma once

#include <string>

namespace ako {

/// The text, at most a byte more than config_bytes_max of it, which parse_config refuses. Throws a
/// StartupError if it cannot be read, or is a pipe or a device: every peer, and whoever starts
/// them, reads it anew. `what` says what it should have been.
std::string read_config_text(const std::string& file, const std::string& what = "a cluster file",
                             const std::string& example = "experiments/mnist/cluster.yaml");

}  // namespace ako
