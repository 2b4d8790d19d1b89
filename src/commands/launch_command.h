// `ako launch`: all peers of a cluster file on this machine, one process each.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"
#include "src/commands/resume_words.h"

namespace ako {

struct LaunchOptions {
    std::string file;
    std::vector<std::string> overrides;  ///< of --set
    bool free_ports = false;             ///< other ports than the file's, on 127.0.0.1
    bool plain = false;                  ///< rows of text on a terminal, too
    bool keep_milestones = false;        ///< also once they are evaluated
    unsigned restart = 0;                ///< how often a peer that died is started again, at most
    ResumeWords resume;
    std::string in;          ///< the command that starts each peer, see peer_words.h; empty: none
    /// With `model: external`: each peer's program and its words.
    std::vector<std::string> program;
    std::string output_dir;  ///< the run folder, new or empty; empty: make one below `output`
};

/// Returns the exit status: see Summary::exit_status. Throws StartupError.
ExitStatus launch(const LaunchOptions& options);

}  // namespace ako
