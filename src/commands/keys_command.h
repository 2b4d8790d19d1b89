// `ako keys`: every key of a cluster file, for who has only the program.
#pragma once

#include <string>

#include "ako/ending.h"

namespace ako {

/// The keys of a group, or the one of this name, with meaning, range and default; all for "".
/// Throws StartupError.
std::string keys_text(const std::string& group);

/// Prints it.
ExitStatus keys(const std::string& group);

}  // namespace ako
