// `ako plot`: the charts of a run, also of one that is under way.
#pragma once

#include <string>

#include "ako/ending.h"

namespace ako {

struct PlotOptions {
    std::string folder;  ///< of the run
    std::string output;  ///< where the page and its charts go; empty: into the same folder
};

/// Writes run.html and plots/*.svg, and says where. Throws StartupError.
ExitStatus plot(const PlotOptions& options);

}  // namespace ako
