// Scenarios without faults under a bound on staleness: nobody runs out of patience, so that no
// deadlock hides behind a time-out, no gradient is computed with a row held further behind than the
// bound, and all agree at the end.
#pragma once

namespace ako::sim {

/// Exit status: 0 if all held; 1 if not, with the case printed.
int run_bounded(bool verbose);

}  // namespace ako::sim
