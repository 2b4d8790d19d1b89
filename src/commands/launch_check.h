// What `ako launch` refuses before it starts anything: what every peer would refuse later.
// Functions; before other threads.
#pragma once

#include "src/commands/launch_command.h"
#include "src/config/cluster_settings.h"

namespace ako {

/// Throws StartupError unless there is a program just where the model is external.
void check_program(const Settings& settings, const LaunchOptions& options);

/// Where the peers will listen: on this machine, or where other ports are free.
enum class PortsAre { here, elsewhere };

/// Throws StartupError: data, memory, links, ports. What is only unwise is said on standard error.
void check_before(const Settings& settings, PortsAre ports);

}  // namespace ako
