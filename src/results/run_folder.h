// The run folder: runs/<run>-<time>/, where everything that a run leaves behind lies, and the link
// runs/latest to the newest run that has trained.
//
//   config.yaml             the settings as resolved
//   metrics-<peer>.jsonl    one line a second: see metrics_line.h
//   metrics-<peer>.csv      the same without the links, for spreadsheets: see metrics_csv.h
//   log-<peer>.txt          what it told people, and sessions and attempts to connect besides
//                           (with `ako launch --restart` these hold all processes of a peer)
//   result-<peer>.json      how the peer ended: see peer_result.h
//   curve.json              accuracy and loss over the run: see curve.h
//   milestones-<peer>.bin   with `evaluate: after`, until they are evaluated: see milestone_file.h
//   checkpoint.safetensors, checkpoint-before.safetensors
//                           the anchor on the way, if `checkpoint_every` is set: see model_files.h
//   state-<peer>-<round>.safetensors
//                           what the peer goes on from with --resume: see checkpoint_file.h
//   model.safetensors       the parameters that all who finished hold
//   model-<peer>.safetensors  those of a peer that ended without agreement
//   run.html, plots/        by `ako plot`: see src/plot/run_page.h
//   summary.json            of the run, by `ako launch`, or as one peer saw it: see summary.h
#pragma once

#include <string>
#include <utility>

#include "src/config/cluster_settings.h"
#include "src/system/file_layer.h"
#include "src/system/whole_file.h"

namespace ako {

/// Makes the folder of a new run and writes config.yaml into it. Both are on the disk when it
/// returns, for a run goes on from its checkpoints by them. Throws StartupError.
std::string make_run_folder(FileLayer& files, const Settings& settings);
/// The same in the folder `chosen`, which is made unless it is there and empty. Returns its
/// absolute path.
std::string make_run_folder(FileLayer& files, const Settings& settings, const std::string& chosen);

/// Makes a folder of which another process, as `ako launch`, may have made a run's already. Throws
/// a StartupError that names the folder, and says why there can be none.
void require_folder(const std::string& folder);

/// The link runs/latest, which moves to a run once a peer of it has made a round: a start that came
/// to nothing must not hide the model of the run before. One thread.
class LatestRun {
  public:
    /// `folder`: that of a new run; empty: of a run in a folder that was chosen, and the link
    /// stays.
    explicit LatestRun(std::string folder = "") : folder_(std::move(folder)) {}
    /// A peer has made a round; said again it does nothing. The link is on the disk then, too.
    void trained(FileLayer& files);

  private:
    std::string folder_;  ///< empty once the link needs nothing more
};

}  // namespace ako
