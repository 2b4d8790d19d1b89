// The attendant of a peer on another machine: started there beside it by whatever reaches that
// machine (srun, ssh), it stands for `ako launch`, which has no pipes and no signals that far. Of
// its three streams:
//
//   standard input   a line asks the peer to stop, a second one ends it (SIGKILL); the end of this
//                    stream, which comes however launch ends, asks likewise
//   standard output  what the peer reports: metrics lines and its result (report_pipe.h)
//   standard error   all that the peer prints
//
// A signal to the attendant asks the peer, too, where it has not heard the same signal itself. One
// thread, a process of its own.
#pragma once

#include <string>
#include <vector>

namespace ako {

/// Runs the words, a program and its arguments, as a peer. Returns its exit status, 128 and the
/// number of the signal that ended it, or 127 if there is no such program.
int attend(const std::vector<std::string>& words);

/// The words that have this program attend to the peer whose words follow.
std::vector<std::string> attendant_words(const std::string& ako);

}  // namespace ako
