// A run beside what was predicted of it, where there is a profile of this machine for its network:
// so people see how far to trust `ako predict`. One thread.
#pragma once

#include <string>

#include "src/config/cluster_settings.h"
#include "src/results/summary.h"

namespace ako {

/// A line for people, with a line break; empty without a profile, where nothing says what links
/// carry, and where too few rounds were made or evaluations lie between them. Adds the pair to
/// profiles/history.jsonl. Never throws: a run has not failed because nothing could be said of it.
std::string beside_prediction(const Settings& settings, const Summary& summary);

}  // namespace ako
