// `ako jobs`, `ako logs`, `ako cancel` and `ako status RUN`: what became of the runs that `ako
// submit` has started, by their folders and by what their engines say.
#pragma once

#include <string>

#include "ako/ending.h"
#include "src/engines/engine.h"

namespace ako {

struct JobsOptions {
    std::string folder = "runs";
};

struct LogsOptions {
    std::string run;  ///< its folder, or that folder's name below runs
    bool follow = false;
};

/// A line for each. An engine that does not answer is a line, too. Throws StartupError.
ExitStatus jobs(const JobsOptions& options);

/// Becomes the engine's own command. Throws StartupError.
ExitStatus logs(const LogsOptions& options);

/// Returns once the engine has the run no more, and what its peers have left is fetched. Throws
/// StartupError.
ExitStatus cancel(const std::string& run);

/// What engine and training say of one run; what its peers have left is fetched once it is over.
/// Throws StartupError.
ExitStatus status_of_submitted(const SubmittedRun& run);

}  // namespace ako
