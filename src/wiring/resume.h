// What a peer goes on from with `--resume`: its checkpoints in the folder of an earlier run, those
// that are whole and of this very training. Functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "ako/frame.h"
#include "src/config/cluster_settings.h"
#include "src/results/checkpoint_folder.h"

namespace ako {

/// The owner of the checkpoints that this peer writes and goes on from; `hello` is its own.
CheckpointOwner checkpoint_owner(const Settings& settings, const Hello& hello);

/// What a folder has for a peer.
struct EarlierCheckpoints {
    std::vector<KeptCheckpoint> usable;  ///< newest first
    std::vector<std::string> refused;    ///< "state-a-40.safetensors is not used: .."
};
/// `defaults`: default_checkpoint_text. A key that the version which wrote a checkpoint did not
/// know must have its default here.
EarlierCheckpoints find_checkpoints(const std::string& folder, const CheckpointOwner& owner,
                                    const std::string& defaults = "");

/// The same for a peer that goes on. Throws StartupError: there is none that is whole and of this
/// training, with the reason for each; or the mode keeps none. In the mode ako the disk may have
/// lost them all: such a peer has its row from the others.
EarlierCheckpoints checkpoints_to_go_on_from(const Settings& settings, const std::string& folder,
                                             const CheckpointOwner& owner);

/// The run folder below `output` in which these peers have left the newest checkpoint. Throws
/// StartupError if there is none.
std::string newest_run_with_checkpoints(const Settings& settings,
                                        const std::vector<std::string>& peers);

}  // namespace ako
