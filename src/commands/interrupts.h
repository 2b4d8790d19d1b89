// Interrupts: SIGINT and SIGTERM as a counter. The first asks the process to end cleanly, the
// second ends it at once. Signals are the one thing of which a process has only one, so this is
// the one global of the program.
#pragma once

#include <atomic>

namespace ako {

/// Exit statuses, the same for every command.
enum ExitStatus : int {
    exit_ok = 0,
    exit_crash = 1,         ///< launch only: a peer ended by a bug
    exit_start_up = 2,      ///< settings, data, ports, memory, too few peers
    exit_numbers = 3,       ///< a loss, a gradient or a parameter is not finite
    exit_no_agreement = 4,  ///< none was possible, or the peers hold parameters that differ
    exit_broken = 5,        ///< a peer was lost that the mode cannot go on without (ring, a server)
    exit_not_written = 6,   ///< trained and agreed, but not all results could be written
    exit_interrupted = 130,
};

/// Begins to count SIGINT and SIGTERM; the second of them ends the process with
/// `exit_interrupted` at once. SIGPIPE and SIGXFSZ are ignored: a reader that is gone, or a file
/// that must not grow, is no reason to die.
const std::atomic<int>& count_interrupts();

}  // namespace ako
