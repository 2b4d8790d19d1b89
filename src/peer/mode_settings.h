// What the cluster file says to a mode, and what the mode then costs a peer. Functions; any thread.
#pragma once

#include <cstddef>

#include "src/config/settings.h"
#include "src/group/mode_settings.h"
#include "src/modes/costs.h"

namespace ako {

/// The same for all peers; what only a peer knows is left as it is by default.
ModeSettings mode_settings(const Settings& settings);

ModeCosts mode_costs(const Settings& settings, std::size_t parameter_count);

}  // namespace ako
