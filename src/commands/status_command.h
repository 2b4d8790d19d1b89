// `ako status`: how the peers of a cluster stand, wherever they run.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"

namespace ako {

struct StatusOptions {
    std::string target;  ///< a cluster file, or host:port where one of its peers is observed
    std::vector<std::string> overrides;
    bool watch = false;   ///< once a second, until it is interrupted or all have ended
    bool health = false;  ///< of the peer at host:port alone, in a line
};

/// Prints the table of `ako launch`. 0: at least one peer has answered. Throws StartupError: none
/// has, or the file says nowhere to ask. With `health` the line of that peer, and exit_unwell
/// unless it answers and is well.
ExitStatus status(const StatusOptions& options);

}  // namespace ako
