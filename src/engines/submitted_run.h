// What a run folder remembers of its engine: submitted.json, written once the engine has taken the
// run. Functions; one thread.
//
//   {"engine": "slurm", "id": "12", "image": "", "peers": ["a", "b"], "submitted_at": 1796000000}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/engines/engine.h"

namespace ako {

void write_submitted_run(const SubmittedRun& run);

/// Nothing if this is no folder of a run that was submitted, or its file is damaged.
std::optional<SubmittedRun> submitted_run(const std::string& folder);

/// Those below the folder, the newest first.
std::vector<SubmittedRun> submitted_runs(const std::string& folder);

/// The one that a user names by its folder, or by that folder's name below `runs`; nothing if there
/// is none.
std::optional<SubmittedRun> find_submitted_run(const std::string& name);
/// The same. Throws StartupError if there is none.
SubmittedRun submitted_run_named(const std::string& name);

}  // namespace ako
