// What of a cluster file a profile holds for: the network and its threads, as one word of digits,
// and the runs of its parameters. A network that is named and the same as a list of layers have the
// same. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/config/cluster_settings.h"

namespace ako {

std::string network_digest(const Settings& settings);

/// What buckets follow: the layers, or of a program's network one range of `parameter_count`.
std::vector<Range> network_layers(const Settings& settings, std::size_t parameter_count);

}  // namespace ako
