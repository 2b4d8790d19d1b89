// Scenarios in which the peers choose whether to wait for each other's newest round, and with whom:
// what they come to, and that they are about as fast as where nobody ever waits.
#pragma once

namespace ako::sim {

/// Exit status: 0 if all held; 1 if not, with the case printed.
int run_chosen(bool verbose);

}  // namespace ako::sim
