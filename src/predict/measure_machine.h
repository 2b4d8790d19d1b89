// Measures a machine for the network of a cluster file: its gradients layer by layer, what a round
// takes beside them, and what exchanging a byte costs its processor, by short runs of this program
// over loopback. Compute thread only.
#pragma once

#include <functional>
#include <string>

#include "src/config/cluster_settings.h"
#include "src/predict/machine_profile.h"

namespace ako {

struct Measuring {
    std::string program;  ///< this one, to start peers with
    std::string machine;  ///< for people
    /// Told what is measured next.
    std::function<void(const std::string&)> say;
};

/// Trains nothing of the user's: gradients are thrown away, and the peers that are started exchange
/// numbers. Throws StartupError (no data, no ports).
MachineProfile measure_machine(const Settings& settings, const Measuring& how);

}  // namespace ako
