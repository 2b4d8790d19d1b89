// The profile of machines as a run of them tells it: what its peers measured while they trained.
// For a network that nobody has profiled, and for a program of the user's (`model: external`),
// which cannot be. Of each worker, from what lies in the run's folder:
//
//   gradient   the median of a round's part, less what its thread lacked a processor; of a program
//              that lets other threads or devices work, by the clock. Its layers' shares are
//              assumed: in proportion to their parameters
//   round_s    until a batch is there, and what its thread does in the exchange
//   exchange   of the run's mode: what the other threads took for a byte; where that cannot be told
//              apart (a program's own threads, layers' threads), at most what profiles have. Of
//              modes that exchange otherwise: what profiles have
//   cores      whatever lets it run as it did: a quota that was spent, a processor that was short,
//              or one for each thread
//
// Reads config.yaml, result-<peer>.json and metrics-<peer>.jsonl, and of a program's run the header
// of its saved model. Writes nothing. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/predict/machine_profile.h"

namespace ako {

/// [peer], of each worker with telling_rounds_min rounds or more; never empty. Of a program's run
/// the batch is that of its rounds, and `network` tells no two programs apart. `cores`: of the
/// machine that all peers ran on; 0: each had its own. Adds what is assumed to `grounds`, a line
/// each. Throws StartupError that names what to do: no run, none that has ended, too few rounds,
/// several learners, batches that grow, or nothing that says how many parameters a program has.
std::map<std::string, MachineProfile> profiles_of_run(const std::string& folder, double cores,
                                                      std::vector<std::string>& grounds);

}  // namespace ako
