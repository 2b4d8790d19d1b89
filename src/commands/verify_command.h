// `ako verify`: is what goes on from a checkpoint the very run that was never disturbed? Each
// stretch between two checkpoints that a run has kept, and the one from the newest to its end, is
// trained once more, on this machine, and has to come to the same bits.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"

namespace ako {

struct VerifyOptions {
    std::string folder;                  ///< of the run
    std::vector<std::string> overrides;  ///< such as data.path, on another machine
};

/// Says of each stretch whether it came to the same; 0, or 4 where one did not, or a checkpoint is
/// damaged. Throws StartupError: the folder is none of a run, its mode does not promise that, or
/// fewer than two places of it are known.
ExitStatus verify(const VerifyOptions& options);

}  // namespace ako
