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
    std::string output_dir;  ///< the run folder, made by `ako launch`; empty: make one
    bool plain = false;      ///< lines of text even at a terminal
    /// Whoever started it starts it again on every exit status but 0. So that is 0 whatever it came
    /// to, unless it died, or could not begin for what a StartupError says.
    bool exit_zero = false;
    bool keep_milestones = false;  ///< also once they are evaluated
    bool restarted = false;        ///< its files go on where an earlier process of it has left off
    ResumeWords resume;
    int report_fd = -1;  ///< where `ako launch` reads metrics lines; -1: show them here
};

/// Returns the exit status. Throws StartupError.
ExitStatus train(const TrainOptions& options);

}  // namespace ako
