// `ako check --network`: the peers of a cluster file measure the links between them, as their run
// would use them. Nothing is trained. A function; one thread.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"

namespace ako {

struct NetworkOptions {
    std::string file;
    std::vector<std::string> overrides;
    std::string peer = "";            ///< which one runs here; empty: all, on this machine
    std::string output = "profiles";  ///< the folder that network.json is written to
};

/// Takes some seconds for every other peer. Throws StartupError.
ExitStatus check_network_of(const NetworkOptions& options);

}  // namespace ako
