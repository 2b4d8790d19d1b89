// See slurm.h.
#include "src/engines/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "ako/error.h"
#include "src/config/cluster_file.h"
#include "src/config/peer_list.h"
#include "src/engines/containers.h"
#include "src/engines/engine_command.h"
#include "src/engines/template_text.h"
#include "src/engines/time_limit.h"
#include "src/system/child_process.h"

namespace ako {
namespace {

constexpr const char* job_script = "job.sh";
/// So long before its time limit a job is told of it: peers agree and write within half a minute on
/// the links that Ako is for, and Slurm looks once or twice a minute. Of a short job a quarter.
constexpr unsigned long notice_max_s = 120, notice_min_s = 30;
/// A job that never gets further must not come back for ever.
constexpr int requeues_max = 50;
constexpr double ask_patience_s = 30;   ///< for the controller's answer
constexpr double stop_patience_s = 60;  ///< what peers take to agree and write, at most
constexpr double job_patience_s = 90;   ///< KillWait, usually 30 s, and the controller's rounds

std::string or_empty(unsigned number) { return number == 0 ? "" : fmt::to_string(number); }

unsigned long notice_s(const Resources& resources) {
    const unsigned long limit = time_limit_s(resources.time).value_or(4 * notice_max_s);
    return std::clamp(limit / 4, notice_min_s, notice_max_s);
}

/// A number of tasks, wherever they are; or of nodes from one to another, as many as there are, for
/// peers that may be fewer and for places that are there for nodes that are lost. (With tasks per
/// node Slurm would give the fewest.)
struct JobSize {
    std::string nodes, tasks;
};
JobSize size_of(const Settings& settings, unsigned spare) {
    const std::size_t peers = settings.peers.size();
    const std::size_t low = fewest_peers(settings);
    if (low == peers + spare) return {"", fmt::to_string(peers)};
    return {fmt::format("{}-{}", low, peers + spare), ""};
}

/// "JobState=RUNNING" and so on, of one line.
std::map<std::string, std::string> job_fields(const std::string& line) {
    std::map<std::string, std::string> fields;
    std::istringstream words(line);
    for (std::string word; words >> word;)
        if (const std::size_t equals = word.find('='); equals != std::string::npos)
            fields.emplace(word.substr(0, equals), word.substr(equals + 1));
    return fields;
}

/// As Slurm reads it in a script: %a is the element of an array, and %% a percent sign.
std::string log_pattern(const Submission& submission) {
    std::string folder;
    for (const char letter : submission.folder)
        folder += letter == '%' ? "%%" : std::string(1, letter);
    return folder + (submission.resources.array.empty() ? "/log.txt" : "/log-%a.txt");
}

/// In the script the folder stands between quotes and in patterns of file names.
void require_plain(const std::string& folder) {
    if (folder.find_first_of("\"\\*?[]\n") == std::string::npos) return;
    throw StartupError("the run folder is " + folder +
                           ": there may be no quotes, backslashes, "
                           "brackets, * and ? in it on Slurm",
                       "name another with --output-dir");
}

EnginePhase phase_of_job(const std::string& state) {
    static const std::map<std::string, EnginePhase> phases = {
        {"COMPLETED", EnginePhase::ended},     {"CANCELLED", EnginePhase::ended},
        {"FAILED", EnginePhase::ended},        {"TIMEOUT", EnginePhase::ended},
        {"NODE_FAIL", EnginePhase::ended},     {"PREEMPTED", EnginePhase::ended},
        {"BOOT_FAIL", EnginePhase::ended},     {"DEADLINE", EnginePhase::ended},
        {"OUT_OF_MEMORY", EnginePhase::ended}, {"REVOKED", EnginePhase::ended},
        {"RUNNING", EnginePhase::running},     {"COMPLETING", EnginePhase::running},
        {"SUSPENDED", EnginePhase::running},   {"STOPPED", EnginePhase::running},
        {"RESIZING", EnginePhase::running},    {"SIGNALING", EnginePhase::running},
        {"STAGE_OUT", EnginePhase::running},
    };
    const auto found = phases.find(state);
    // PENDING, CONFIGURING, REQUEUED and the like, and what later versions call it.
    return found == phases.end() ? EnginePhase::queued : found->second;
}

unsigned number_of(const std::string& text) {
    unsigned number = 0;
    for (const char letter : text)
        if (letter >= '0' && letter <= '9')
            number = 10 * number + static_cast<unsigned>(letter - '0');
    return number;
}

/// Slurm forgets jobs some minutes after their end.
bool is_forgotten(const std::string& said) {
    return said.find("Invalid job id") != std::string::npos;
}

}  // namespace

EngineState slurm_state(const std::string& said) {
    EngineState state;
    std::istringstream lines(said);
    std::set<std::string> all;
    for (std::string line; std::getline(lines, line);) {
        auto fields = job_fields(line);
        if (fields["JobState"].empty()) continue;
        const EnginePhase phase = phase_of_job(fields["JobState"]);
        // Of an array: what runs counts, then what waits.
        const auto urgency = [](EnginePhase it) {
            return it == EnginePhase::running ? 0 : it == EnginePhase::queued ? 1 : 2;
        };
        if (all.empty() || urgency(phase) < urgency(state.phase)) state.phase = phase;
        const std::string& reason = fields["Reason"];
        all.insert(reason.empty() || reason == "None"
                       ? fields["JobState"]
                       : fmt::format("{} ({})", fields["JobState"], reason));
        state.requeues = std::max(state.requeues, number_of(fields["Restarts"]));
        if (const std::string& nodes = fields["NodeList"]; !nodes.empty() && nodes != "(null)")
            state.machines.push_back(nodes);
    }
    for (const std::string& one : all) state.words += (state.words.empty() ? "" : ", ") + one;
    return state;
}

Settings SlurmEngine::settings_there(const Submission& submission) const {
    return submission.settings;  // folders are shared, and launch gives the addresses
}

std::vector<EngineFile> SlurmEngine::render(const Submission& submission) const {
    const Settings& settings = submission.settings;
    const JobSize size = size_of(settings, submission.resources.spare);
    require_plain(submission.folder);
    if (submission.resources.broadcast && settings.data.path.empty())
        throw StartupError("--broadcast: the cluster file names no data (data.path)",
                           "a program brings its own");
    const Resources& resources = submission.resources;
    const unsigned cpus = resources.threads();
    if (cpus != resources.cpus)
        throw StartupError(fmt::format("--cpus {}: Slurm gives whole processors", resources.cpus),
                           fmt::format("--cpus {}", std::ceil(resources.cpus)));
    return {{job_script,
             filled(slurm_template(),
                    {{"run", submission.settings.run},
                     {"peers", fmt::to_string(submission.settings.peers.size())},
                     {"job_name", submission.settings.run},
                     {"log_pattern", log_pattern(submission)},
                     {"again_max", fmt::to_string(submission.restarts)},
                     {"requeue_always", submission.requeue_always ? "yes" : "no"},
                     {"names", fmt::format("{}", fmt::join(peer_names(settings), " "))},
                     {"folder_quoted", quoted_words({submission.folder})},
                     {"nodes", size.nodes},
                     {"tasks", size.tasks},
                     {"cpus", fmt::to_string(cpus)},
                     {"memory_per_cpu", or_empty((resources.memory_mb + cpus - 1) / cpus)},
                     {"time", resources.time},
                     {"partition", resources.partition},
                     {"array", resources.array},
                     {"broadcast",
                      resources.broadcast ? quoted_words({settings.data.path}) : std::string()},
                     {"notice_s", fmt::to_string(notice_s(resources))},
                     {"requeues_max", fmt::to_string(requeues_max)},
                     {"ako", quoted_words({submission.ako})},
                     {"cluster_file", quoted_words({submission.path("config.yaml")})},
                     {"restarts",
                      may_come_back(submission.settings) ? or_empty(submission.restarts) : ""},
                     {"program", quoted_words(submission.program)}})}};
}

void SlurmEngine::check(const Submission& submission) const {
    engine_says({"sbatch", "--test-only", submission.path(job_script)},
                "`sinfo` shows partitions and nodes; is munge running here?");
}

std::vector<std::string> SlurmEngine::warnings(const Submission& submission) const {
    // "KillWait                = 30 sec"
    const std::string said = run_command({"scontrol", "show", "config"}, ask_patience_s).text;
    const std::size_t at = said.find("KillWait");
    if (at == std::string::npos) return {};
    const unsigned kill_wait_s = number_of(said.substr(at, said.find('\n', at) - at));
    const double leave_s = submission.settings.exchange.leave_timeout_s;
    if (leave_s < kill_wait_s) return {};
    return {
        fmt::format("exchange.leave_timeout_s is {:g}, and Slurm ends what is still there {} s "
                    "after it has asked (KillWait): set it below that",
                    leave_s, kill_wait_s)};
}

std::string SlurmEngine::submit(const Submission& submission) const {
    const std::string said =
        engine_says({"sbatch", "--parsable", submission.path(job_script)},
                    "`sinfo` shows partitions and nodes; is munge running here?");
    // "12" or "12;cluster", behind what a site's own filter may say.
    const std::string text = trimmed(said);
    const std::string last = text.substr(text.find_last_of('\n') + 1);
    const std::string id = last.substr(0, last.find(';'));
    if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
        throw NoAnswer("sbatch did not say which job it made: " + text,
                       "`squeue --me` shows whether it did");
    return id;
}

EngineState SlurmEngine::state(const SubmittedRun& run) const {
    try {
        return slurm_state(engine_says({"scontrol", "show", "job", "--oneliner", run.id}, ""));
    } catch (const StartupError& error) {
        if (is_forgotten(error.what())) return {EnginePhase::ended, "ended some time ago"};
        throw;
    }
}

std::vector<std::string> SlurmEngine::logs_command(const SubmittedRun& run, bool follow) const {
    // -F: the file comes with the job's start.
    // Of an array each element has its own.
    return {"sh", "-c",
            fmt::format("exec tail -n +1 {} {}/log*.txt", follow ? "-F" : "",
                        quoted_words({run.folder}))};
}

void SlurmEngine::cancel(const SubmittedRun& run) const {
    // By a word to the script alone, so that all peers are asked once, by launch.
    if (state(run).phase == EnginePhase::running) {
        run_command({"scancel", "--batch", "--signal=USR2", run.id}, ask_patience_s);
        if (ends_within(run, stop_patience_s)) return;
    }
    try {
        engine_says({"scancel", run.id}, "");
    } catch (const StartupError& error) {
        if (is_forgotten(error.what())) return;
        throw;
    }
    if (!ends_within(run, job_patience_s))
        throw StartupError(fmt::format("job {} was cancelled, and has not ended after {:g} s",
                                       run.id, job_patience_s),
                           "`scontrol show job` says what it waits for");
}

bool SlurmEngine::ends_within(const SubmittedRun& run, double seconds) const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (state(run).phase != EnginePhase::ended) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return true;
}

}  // namespace ako
