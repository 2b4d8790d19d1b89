// `ako train`: one peer in the foreground, from the settings to the result.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"
#include "src/commands/resume_words.h"

namespace ako {

struct TrainOptions {
    std::string file;
    std::vector<std::string> overrides;  ///< of --set
    std::string peer;
    std::string output_dir;        ///< the run folder, made by `ako launch`; empty: make one
    bool plain = false;            ///< lines of text even at a terminal
    bool keep_milestones = false;  ///< also once they are evaluated
    ResumeWords resume;
    int report_fd = -1;  ///< where `ako launch` reads metrics lines; -1: show them here
};

/// Returns the exit status. Throws StartupError.
ExitStatus train(const TrainOptions& options);

}  // namespace ako
