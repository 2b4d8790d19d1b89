// `ako compose`: a Compose file that runs the peers of a cluster file as containers, one service
// each. The cluster file itself is mounted, not a copy, so that changing it needs nothing written
// anew; what containers must have otherwise (addresses, folders) is set on their command lines.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"

namespace ako {

struct ComposeOptions {
    std::string file;
    std::vector<std::string> overrides;  ///< of --set; passed on to every peer
    std::string image = "ako";           ///< that has `ako` as its entry point
    std::string repository;              ///< to build the image from; empty: it is there already
    std::string output;                  ///< the Compose file; empty: standard output
};

/// Writes the Compose file. Throws StartupError.
ExitStatus compose(const ComposeOptions& options);

}  // namespace ako
