// `--resume [FOLDER]` of train and launch: what a run goes on from. Values and functions; any
// thread.
#pragma once

#include <string>
#include <vector>

#include "src/config/cluster_settings.h"

namespace ako {

/// The words of the command line.
struct ResumeWords {
    bool said = false;
    std::string folder;  ///< a run folder; empty: the newest that has checkpoints
};

/// The cluster file that is meant where none was named: that of the run. Throws StartupError if the
/// folder is none.
std::string cluster_file_of(const ResumeWords& words);

/// The folder to go on from, absolute and without links, for runs/latest may move meanwhile; empty
/// unless --resume was said. Without a folder the newest below `output` in which these peers have
/// left a checkpoint. Throws StartupError if there is none.
std::string resume_folder(const ResumeWords& words, const Settings& settings,
                          const std::vector<std::string>& peers);

}  // namespace ako
