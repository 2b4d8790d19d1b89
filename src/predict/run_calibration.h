// What a run tells of the machines that it ran on, taken into their profile: how long a round
// really takes, and what its exchange really costs the processor. Reads config.yaml and
// summary.json of a run's folder. One thread.
#pragma once

#include <string>
#include <vector>

#include "src/predict/machine_profile.h"

namespace ako {

/// Runs of one machine alone count first: they tell what a round takes, the others what exchanging
/// adds. `period_s`: of the quota that runs were held to, if they were. Throws StartupError that
/// names the folder: no run, or of another network.
void calibrate(MachineProfile& profile, const std::vector<std::string>& run_folders,
               double period_s);

}  // namespace ako
