// Interrupts: SIGINT and SIGTERM as a counter. The first asks the process to end cleanly, the
// second ends it at once. SIGHUP, as of a terminal that is closed, asks as well, but ends nothing
// at once: a shell and the system may both send it. The first also says what is to end: SIGTERM,
// which is what stops one machine or one container, this peer alone; the others the run. Signals
// are a thing of which a process has only one, so what is here is global.
#pragma once

#include <atomic>

namespace ako {

/// Begins to count SIGINT and SIGTERM; the second of them ends the process with
/// `exit_interrupted` at once. SIGHUP counts if it is the first, unless it was ignored when the
/// process began, as under nohup. SIGPIPE and SIGXFSZ are ignored: a reader that is gone, or a file
/// that must not grow, is no reason to die.
const std::atomic<int>& count_interrupts();

/// Was the first that was counted SIGTERM? Known as soon as the counter is not 0. Any thread.
bool asked_to_leave();

/// Is SIGHUP ignored, as under nohup?
bool hangups_ignored();

/// `step` is called before a second interrupt ends the process: by the signal's handler, so it may
/// do only what a handler may. Null: nothing.
void before_sudden_end(void (*step)());

}  // namespace ako
