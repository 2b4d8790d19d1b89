// Where `ako launch` starts the peers of a run: on this machine, behind the command of --in, or on
// the nodes of the Slurm allocation that it runs in. Functions; before other threads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/commands/launch_command.h"
#include "src/config/cluster_settings.h"
#include "src/engines/slurm_allocation.h"
#include "src/launch/peer_words.h"

namespace ako {

struct LaunchPlace {
    PeerWords words;                    ///< before a peer's own; none: it is started directly
    std::string by;                     ///< what those words are of, for people: "--in", "srun"
    bool elsewhere = false;             ///< they lead to other machines
    std::size_t peers = 0;              ///< the first so many of the file are started
    std::string note;                   ///< what to say of it; empty: nothing
    std::vector<SlurmTask> spare = {};  ///< places on machines that no peer has
};

/// Gives the peers of the settings the addresses that they have there, unless the file's count.
/// Throws StartupError.
LaunchPlace launch_place(Settings& settings, const LaunchOptions& options);

/// Gives a peer a spare place, and the settings its address there. False: there is none.
bool move_peer(LaunchPlace& place, Settings& settings, std::size_t peer);

}  // namespace ako
