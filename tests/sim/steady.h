// Scenarios without faults, of which more can be said: how old what is held may be (I4), and the P
// that comes out.
#pragma once

namespace ako::sim {

/// Runs them all; 0 if all is as it should be, else 1, with the violation as the last but one line.
int run_steady(bool verbose);

}  // namespace ako::sim
