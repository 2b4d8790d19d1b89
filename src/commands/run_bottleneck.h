// What limited a run that has ended, by what its peers last said while they trained. Pure; any
// thread.
#pragma once

#include "src/config/cluster_settings.h"
#include "src/results/bottleneck.h"
#include "src/screen/run_state.h"

namespace ako {

/// A peer that did not come to the end does not count.
Bottleneck run_bottleneck(const Settings& settings, const RunState& state);

}  // namespace ako
