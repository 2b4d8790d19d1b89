// What of a cluster file a profile holds for: the network and its threads, as one word of digits. A
// network that is named and the same as a list of layers have the same. Pure; any thread.
#pragma once

#include <string>

#include "src/config/cluster_settings.h"

namespace ako {

std::string network_digest(const Settings& settings);

}  // namespace ako
