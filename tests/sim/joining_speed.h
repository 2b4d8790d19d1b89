// How fast a process that begins while others train has caught up: within 1.3 times what its links
// need for the bytes of all rows, taken from all peers at once.
#pragma once

namespace ako::sim {

/// The exit status; says what it saw.
int run_joining(bool verbose);

}  // namespace ako::sim
