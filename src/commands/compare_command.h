// `ako compare`: runs the cells of a plan that have not been run, and writes the report of all.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"

namespace ako {

struct CompareOptions {
    std::string file;
    std::vector<std::string> overrides;  ///< of --set
    bool retry_failed = false;           ///< cells that failed are run again
    bool only_report = false;            ///< nothing is run
    std::string program;  ///< started as `PROGRAM launch ..` for each cell; empty: this one
    /// Nothing is trained or written: the cells there are, what they would run on, how long.
    bool only_list = false;
};

/// exit_ok; exit_crash if a cell of the comparison proper failed; exit_interrupted after an
/// interrupt and exit_start_up once no network can be made, both with a report of what had been
/// run. Throws StartupError.
ExitStatus compare(const CompareOptions& options);

}  // namespace ako
