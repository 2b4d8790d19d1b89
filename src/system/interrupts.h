// Interrupts: SIGINT and SIGTERM as a counter. The first asks the process to end cleanly, the
// second ends it at once. Signals are the one thing of which a process has only one, so this is
// the one global of the program.
#pragma once

#include <atomic>

namespace ako {

/// Begins to count SIGINT and SIGTERM; the second of them ends the process with
/// `exit_interrupted` at once. SIGPIPE and SIGXFSZ are ignored: a reader that is gone, or a file
/// that must not grow, is no reason to die.
const std::atomic<int>& count_interrupts();

}  // namespace ako
