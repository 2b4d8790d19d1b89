// What a peer goes on from with `--resume`: its checkpoints in the folder of an earlier run, those
// that are whole and of this very training. With `--from` it branches off: what it trains by may
// be other than what made the checkpoint, and what it trains may not. Functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/frame.h"
#include "src/config/cluster_settings.h"
#include "src/results/checkpoint_folder.h"
#include "src/wiring/changed_peers.h"

namespace ako {

/// What a run goes on from.
struct EarlierRun {
    std::string folder;     ///< empty: it begins anew
    bool branches = false;  ///< `--from`: it may have another name, and train by other settings
    bool if_any = false;    ///< else it begins anew, or goes on with whoever has some
    bool alone = false;     ///< in a mode in which each peer trains by itself: with other batches

    bool none() const { return folder.empty(); }
    /// The option that says so, for people and for the peers that launch starts.
    const char* option() const { return branches ? "--from" : "--resume"; }
};

/// The owner of the checkpoints that this peer writes and goes on from; `hello` is its own.
CheckpointOwner checkpoint_owner(const Settings& settings, const Hello& hello);

/// What a folder has for a peer.
struct EarlierCheckpoints {
    std::vector<KeptCheckpoint> usable;  ///< newest first
    std::vector<std::string> refused;    ///< "state-a-40.safetensors is not used: .."
};
/// `defaults`: default_checkpoint_text. A key that the version which wrote a checkpoint did not
/// know must have its default here. `changed`: the peers may be others than those that made a
/// checkpoint, and who has none of its own takes another's; null: they may not.
EarlierCheckpoints find_checkpoints(const EarlierRun& run, const CheckpointOwner& owner,
                                    const std::string& defaults = "",
                                    const ChangedPeers* changed = nullptr);

/// The same for a peer that goes on. Throws StartupError: there is none that is whole and of this
/// training, with the reason for each; or the mode keeps none. In the mode ako the disk may have
/// lost them all: such a peer has its row from the others.
EarlierCheckpoints checkpoints_to_go_on_from(const Settings& settings, const EarlierRun& run,
                                             const CheckpointOwner& owner);

/// The run folder below `output` in which these peers have left the newest checkpoint, if any has.
std::optional<std::string> newest_run_with_checkpoints(const Settings& settings,
                                                       const std::vector<std::string>& peers);

}  // namespace ako
