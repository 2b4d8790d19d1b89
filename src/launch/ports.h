// Ports of this machine: are those of the file free, and which others are? Any thread.
#pragma once

#include "src/config/cluster_settings.h"

namespace ako {

/// Throws a StartupError naming the first peer whose listening address is taken or not of this
/// machine.
void require_free_ports(const Settings& settings);

/// Gives every peer a free port on 127.0.0.1 instead of its address, none of those at which peers
/// are observed.
void use_free_ports(Settings& settings);

}  // namespace ako
