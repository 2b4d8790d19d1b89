// `--resume [FOLDER]` and `--from FOLDER` of train and launch: what a run goes on from. Values and
// functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "src/config/cluster_settings.h"
#include "src/wiring/resume.h"

namespace ako {

/// The words of the command line.
struct ResumeWords {
    bool said = false;
    std::string folder;  ///< a run folder; empty: the newest that has checkpoints
    bool branches = false;  ///< --from
    bool if_any = false;    ///< without a folder: where no run has checkpoints it begins anew
};

/// The cluster file that is meant where none was named: that of the run. Throws StartupError if the
/// folder is none.
std::string cluster_file_of(const ResumeWords& words);

/// The run to go on from, its folder absolute and without links, for runs/latest may move
/// meanwhile; none unless an option said so. Without a folder the newest below `output` in which
/// these peers have left a checkpoint. Throws StartupError if there is none.
EarlierRun earlier_run(const ResumeWords& words, const Settings& settings,
                       const std::vector<std::string>& peers);

}  // namespace ako
