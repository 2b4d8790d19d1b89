// A Slurm allocation that this process runs in, as in a batch script or under salloc: which nodes
// its tasks have, and what starts a peer there. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ako {

/// Of each task, one of every node before the second of any.
struct SlurmTask {
    std::string node;
    std::string address;  ///< at which Slurm itself reaches the node
};

class SlurmAllocation {
  public:
    /// What the environment of a process says; the values of the variables that are named in it.
    struct Variables {
        std::string job, nodes, tasks_per_node, cpus_per_task, step;
    };
    static Variables variables();

    /// Nothing if this process is in none, or is itself a task of one. Asks `scontrol` for the
    /// nodes. Throws StartupError.
    static std::optional<SlurmAllocation> here(const Variables& variables);

    SlurmAllocation(std::string job, std::vector<SlurmTask> tasks, unsigned cpus_per_task);

    const std::string& job() const { return job_; }
    const std::vector<SlurmTask>& tasks() const { return tasks_; }
    /// Of the first peer; each next one has the next. Jobs side by side on a node have others.
    unsigned first_port() const;
    /// The words before a peer's own, in which {machine} and {name} stand for the peer's.
    std::vector<std::string> start_words() const;

  private:
    std::string job_;
    std::vector<SlurmTask> tasks_;
    unsigned cpus_per_task_;
};

/// "2(x3),1" is 2, 2, 2, 1. Pure; empty if it is not of that form.
std::vector<unsigned> tasks_of_nodes(const std::string& text);

/// Name and address of each node that `scontrol show node --oneliner` told of. Pure.
std::vector<SlurmTask> nodes_told(const std::string& said);

}  // namespace ako
