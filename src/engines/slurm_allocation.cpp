// See slurm_allocation.h.
#include "src/engines/slurm_allocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "ako/error.h"
#include "src/engines/engine_command.h"

namespace ako {
namespace {

/// Below the ports that the kernel gives to outgoing connections; so many runs of 64 peers may
/// begin on one node before two of them are given the same.
constexpr unsigned port_first = 20'000, ports_of_job = 64, jobs_side_by_side = 187;
/// Steps from here on are no tasks of the user's: the batch script, and the shell of salloc.
constexpr unsigned long steps_of_slurm = 0xffff'fff0;
constexpr unsigned nodes_max = 65'536;  ///< of Slurm

std::string variable(const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): see the header
    return value == nullptr ? "" : value;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

}  // namespace

std::vector<unsigned> tasks_of_nodes(const std::string& text) {
    std::vector<unsigned> tasks;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t times = part.find("(x");
        const auto count = number_in<unsigned>(std::string_view(part).substr(0, times));
        std::optional<unsigned> nodes = 1U;
        if (times != std::string::npos) {
            const std::string_view repeats = std::string_view(part).substr(times + 2);
            nodes = number_in<unsigned>(repeats.substr(0, repeats.find(')')));
            if (!repeats.ends_with(')')) nodes.reset();
        }
        if (!count || !nodes || *nodes > nodes_max) return {};
        tasks.insert(tasks.end(), *nodes, *count);
    }
    return tasks;
}

std::vector<SlurmTask> nodes_told(const std::string& said) {
    std::vector<SlurmTask> nodes;
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
        SlurmTask node;
        std::istringstream words(line);
        for (std::string word; words >> word;) {
            if (word.starts_with("NodeName=")) node.node = word.substr(9);
            if (word.starts_with("NodeAddr=")) node.address = word.substr(9);
        }
        if (!node.node.empty()) nodes.push_back(node);
    }
    return nodes;
}

SlurmAllocation::Variables SlurmAllocation::variables() {
    return {variable("SLURM_JOB_ID"), variable("SLURM_JOB_NODELIST"),
            variable("SLURM_TASKS_PER_NODE"), variable("SLURM_CPUS_PER_TASK"),
            variable("SLURM_STEP_ID")};
}

std::optional<SlurmAllocation> SlurmAllocation::here(const Variables& variables) {
    if (variables.job.empty() || variables.nodes.empty()) return std::nullopt;
    const auto step = number_in<unsigned long>(variables.step);
    if (step && *step < steps_of_slurm) return std::nullopt;
    const std::string hint = "--free-ports stays on this machine";
    const std::vector<SlurmTask> nodes =
        nodes_told(engine_says({"scontrol", "show", "node", "--oneliner", variables.nodes}, hint));
    const std::vector<unsigned> counts = tasks_of_nodes(variables.tasks_per_node);
    if (nodes.empty() || counts.size() != nodes.size())
        throw StartupError(fmt::format("job {} of Slurm: its nodes are {}, and its tasks {}",
                                       variables.job, variables.nodes, variables.tasks_per_node),
                           hint);
    std::vector<SlurmTask> tasks;
    // A task of each node first, so that a node that is lost takes as few peers as can be.
    const unsigned most = *std::max_element(counts.begin(), counts.end());
    for (unsigned round = 0; round < most; ++round)
        for (std::size_t k = 0; k < nodes.size(); ++k)
            if (round < counts[k]) tasks.push_back(nodes[k]);
    return SlurmAllocation(variables.job, std::move(tasks),
                           number_in<unsigned>(variables.cpus_per_task).value_or(1));
}

SlurmAllocation::SlurmAllocation(std::string job, std::vector<SlurmTask> tasks,
                                 unsigned cpus_per_task)
    : job_(std::move(job)), tasks_(std::move(tasks)), cpus_per_task_(cpus_per_task) {}

unsigned SlurmAllocation::first_port() const {
    const unsigned long number = number_in<unsigned long>(job_).value_or(0);
    return port_first + static_cast<unsigned>(number % jobs_side_by_side) * ports_of_job;
}

std::vector<std::string> SlurmAllocation::start_words() const {
    // A step for one task, with its own share of the job's processors and what there is of memory;
    // neither its end nor that of its node is the end of another. One for which there is no room,
    // as on a node that is lost, ends soon.
    return {"srun",
            "--job-name={name}",
            "--nodelist={machine}",
            "--nodes=1",
            "--ntasks=1",
            fmt::format("--cpus-per-task={}", cpus_per_task_),
            "--exact",
            "--mem=0",
            "--immediate=30",
            "--no-kill",
            "--kill-on-bad-exit=0",
            "--wait=0",
            "--quiet"};
}

}  // namespace ako
