// An engine of a shared cluster, which allocates machines and starts, watches and ends what runs on
// them: Slurm, Docker Swarm or Kubernetes. Ako asks it by its own commands and schedules nothing
// itself. All of a run that lasts is in its folder and at the engine: whoever submitted it may go.
//
// One class for each engine; engine_table.h knows them. One thread.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/config/cluster_settings.h"

namespace ako {

/// What a peer is to have. What is empty or 0 is left to the engine.
struct Resources {
    double cpus = 1;  ///< Swarm and Kubernetes give parts of one as well
    unsigned memory_mb = 0;
    unsigned spare = 0;         ///< Slurm's: places for peers whose machine is lost
    std::string time;           ///< of the whole run, as Slurm has it: 2:00:00
    std::string partition;      ///< Slurm's; for Swarm a constraint, for Kubernetes a node selector
    std::string array;          ///< Slurm's: a run for each element, with its number as seed
    bool broadcast = false;     ///< Slurm's: data are copied to the disk of each node
    std::string image = "ako";  ///< of containers

    /// Threads that can run on what it has at the same time.
    unsigned threads() const { return static_cast<unsigned>(std::max(1.0, cpus)); }
};

/// A run that is to be started.
struct Submission {
    Settings settings;   ///< addresses are the engine's, whatever stands there
    std::string folder;  ///< the run folder, absolute: everything of the run comes here
    std::string ako;     ///< the program, as it is found on the machines
    Resources resources;
    unsigned restarts = 0;             ///< of a peer that died, at most
    bool requeue_always = false;       ///< also without a checkpoint of Ako's to go on from
    std::vector<std::string> program;  ///< with `model: external`
    /// The run folder's name: what the run is called at the engine, too.
    std::string name() const;
    std::string path(const std::string& file) const;
};

/// A file of the run folder that the engine is given.
struct EngineFile {
    std::string name;
    std::string text;
    bool secret = false;  ///< for its owner alone
};

/// A run that was started, as its folder says (submitted_run.h).
struct SubmittedRun {
    std::string folder;
    std::string engine;
    std::string id;     ///< by which the engine knows it
    std::string image;  ///< of containers
    std::vector<std::string> peers;
    long long submitted_at = 0;  ///< seconds since 1970

    std::string name() const;
    std::string path(const std::string& file) const;
};

enum class EnginePhase { queued, running, ended, unknown };

/// How the engine says that a run stands.
struct EngineState {
    EnginePhase phase = EnginePhase::unknown;
    std::string words;  ///< the engine's own: "PENDING (Resources)"
    unsigned requeues = 0;
    std::vector<std::string> machines = {};
};

class Engine {
  public:
    virtual ~Engine() = default;

    /// "slurm": as --engine says it.
    virtual std::string_view word() const = 0;
    /// Do the machines see the files of this one under the same paths?
    virtual bool shares_files() const = 0;
    /// The settings as peers see them there, which become config.yaml.
    virtual Settings settings_there(const Submission& submission) const = 0;
    /// The rest of what it needs. Pure.
    virtual std::vector<EngineFile> render(const Submission& submission) const = 0;
    /// What can be known before anything is queued: throws StartupError with the engine's words.
    /// The files are in the folder.
    virtual void check(const Submission& submission) const = 0;
    /// What is only unwise, for people; what the engine does not tell is no warning.
    virtual std::vector<std::string> warnings(const Submission& submission) const = 0;
    /// Starts the run and returns its id. Throws StartupError, and then nothing is left there.
    virtual std::string submit(const Submission& submission) const = 0;
    virtual EngineState state(const SubmittedRun& run) const = 0;
    /// The command that shows what the peers have said, and with `follow` goes on doing so.
    virtual std::vector<std::string> logs_command(const SubmittedRun& run, bool follow) const = 0;
    /// Has the peers stop and agree, and takes the run away; returns once the engine has it no
    /// more.
    virtual void cancel(const SubmittedRun& run) const = 0;
    /// Brings what the peers have left into the folder, if it is not there by itself. Returns what
    /// to say of it; empty: nothing.
    virtual std::string fetch(const SubmittedRun& run) const = 0;
};

}  // namespace ako
