// Scenarios in which peers train apart for long and meet again: what each of them then computes
// gradients at, is no worse than what they had before by more than a little.
#pragma once

namespace ako::sim {

/// Runs them all; 0 if all is as it should be, else 1, with the violation as the last but one line.
int run_apart(bool verbose);

}  // namespace ako::sim
