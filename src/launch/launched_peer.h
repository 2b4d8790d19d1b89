// What `ako launch FILE -- PROGRAM` tells each PROGRAM: environment variables, which the library
// reads when it becomes a peer. Both sides of that are here. Functions; before other threads.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ako {

struct LaunchedPeer {
    std::string file;  ///< the cluster file, as launch has resolved it
    std::string peer;
    std::string output_dir;  ///< the run folder
    int report_fd = -1;      ///< where launch reads metrics lines and the result
    bool restarted = false;  ///< an earlier process of it has died
};

/// Names and values.
std::vector<std::pair<std::string, std::string>> environment_of(const LaunchedPeer& launched);

/// Nothing if this process was not started by `ako launch`, or if this was asked before. Taken out
/// of the environment, so that a child of this process does not take itself for the peer. Throws
/// StartupError if it is not whole.
std::optional<LaunchedPeer> take_launched_peer();

}  // namespace ako
