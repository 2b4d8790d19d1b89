// `ako keys`: every key of a cluster file, for who has only the program.
#pragma once

#include <string>

#include "ako/ending.h"

namespace ako {

struct KeysOptions {
    std::string group = "";  ///< "training", or a key; empty: all
    std::string mode = "";   ///< only what this mode heeds; empty: all
    bool example = false;    ///< a cluster file with all of them instead
};

/// The keys with meaning, range and default. Throws StartupError if there is no such group, key or
/// mode.
std::string keys_text(const KeysOptions& options);

/// Prints it.
ExitStatus keys(const KeysOptions& options);

}  // namespace ako
