// `ako submit`: the peers of a cluster file, started by the engine of a shared cluster.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"
#include "src/engines/engine.h"

namespace ako {

struct SubmitOptions {
    std::string file;
    std::vector<std::string> overrides;  ///< of --set
    std::string engine;
    unsigned peers = 0;  ///< 0: those of the file
    Resources resources;
    unsigned restart = 3;
    bool requeue_always = false;  ///< also without a checkpoint of Ako's to go on from
    bool print = false;           ///< what the engine would be given, and submit nothing
    bool check = false;           ///< ask the engine whether it would take it, and submit nothing
    std::string output_dir;       ///< the run folder; empty: make one below `output`
    std::vector<std::string> program;  ///< with `model: external`
};

/// Throws StartupError, and then neither the engine nor the folder for results has anything of it.
ExitStatus submit(const SubmitOptions& options);

}  // namespace ako
