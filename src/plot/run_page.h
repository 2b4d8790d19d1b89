// The page of a run: run.html, one file that needs no network and no script, with its charts inside
// and beside it:
//
//   run.html
//   plots/*.svg    each with the script that gnuplot drew it from: see run_charts.h
#pragma once

#include <string>

#include "src/plot/run_record.h"

namespace ako {

/// Writes all of it into `folder`, which is made unless it is there, over what an earlier call has
/// written; returns the path of run.html. One thread. Throws StartupError.
std::string write_run_page(const RunRecord& run, const std::string& folder);

}  // namespace ako
