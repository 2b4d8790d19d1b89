// Scenarios in which peers train apart for long and meet again: once all rows have come, what each
// of them computes gradients at is far better than what either side had.
#pragma once

namespace ako::sim {

/// Runs them all; 0 if all is as it should be, else 1, with the violation as the last but one line.
int run_apart(bool verbose);

}  // namespace ako::sim
