// `ako check` of a plan for `ako compare`, which has keys of its own. Functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"

namespace ako {

/// Does the file hold a plan rather than a cluster? Throws StartupError if it cannot be read.
bool holds_plan(const std::string& file);

/// Reads the plan and its cluster file as `ako compare` would, and prints what it tries. Throws
/// StartupError.
ExitStatus check_plan(const std::string& file, const std::vector<std::string>& overrides);

}  // namespace ako
