// `ako profile`: measures this machine for the network of a cluster file, for `ako predict`.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"

namespace ako {

struct ProfileOptions {
    std::string file;
    std::vector<std::string> overrides;
    std::string output = "profiles";  ///< the folder
    std::string name = "";            ///< of the file in it; empty: this machine's
};

/// Takes about half a minute. Throws StartupError.
ExitStatus profile(const ProfileOptions& options);

}  // namespace ako
