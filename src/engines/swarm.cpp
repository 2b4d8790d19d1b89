// See swarm.h.
#include "src/engines/swarm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "ako/error.h"
#include "src/config/field_types.h"
#include "src/config/peer_list.h"
#include "src/engines/containers.h"
#include "src/engines/engine_command.h"
#include "src/engines/template_text.h"
#include "src/launch/peer_words.h"
#include "src/system/child_process.h"

namespace ako {
namespace {

constexpr const char* stack_file = "stack.yml";
constexpr const char* is_swarm_hint =
    "`docker swarm init` makes this engine a swarm; elsewhere a manager's has to be asked "
    "(DOCKER_HOST)";
/// Peers that are asked to stop take their grace, and the engine its own time for networks.
constexpr double stack_patience_s = container_grace_s + 60;
constexpr double remove_patience_s = 30;

std::string mounts_text(const Settings& settings) {
    std::string text;
    for (const Mount& mount : mounts_of(settings)) {
        if (mount.key == std::string("cluster_key_file")) continue;  // a secret
        text += fmt::format("{}    - {{type: bind, source: {}, target: {}, read_only: true}}",
                            text.empty() ? "" : "\n", safe_text(mount.here), mount.there);
    }
    return text;
}

std::string service_host(const std::string& peer) { return engine_name(host_of(peer)); }

/// Throws StartupError where two would be one.
std::vector<std::string> service_hosts(const Settings& settings) {
    std::vector<std::string> hosts;
    for (const PeerSettings& peer : settings.peers) {
        hosts.push_back(service_host(peer.name));
        if (std::find(hosts.begin(), hosts.end() - 1, hosts.back()) != hosts.end() - 1)
            throw StartupError(fmt::format("two peers would be the service {}: {} is the second",
                                           hosts.back(), peer.name),
                               "give them names that differ in letters and digits");
    }
    return hosts;
}

/// The words of a peer in its container.
std::vector<std::string> command_of(const Submission& submission, PeerIndex index) {
    const PeerSettings& peer = submission.settings.peers[index];
    if (!submission.program.empty())
        return PeerWords::of_program(submission.program, true).of(index, peer.name);
    std::vector<std::string> words = {"train", cluster_file_there, "--peer", peer.name,
                                      "--resume-if-any"};
    if (may_come_back(submission.settings)) words.emplace_back("--exit-zero");
    words.insert(words.end(), {"--set", fmt::format("output={}/{}", results_there, peer.name)});
    return words;
}

std::string service(const Submission& submission, PeerIndex index) {
    const Settings& settings = submission.settings;
    const PeerSettings& peer = settings.peers[index];
    const std::string host = service_hosts(settings)[index];
    std::vector<std::string> words;
    for (const std::string& word : command_of(submission, index)) words.push_back(safe_text(word));
    std::string text = fmt::format("  {}:\n    <<: *peer\n    hostname: {}\n", host, host);
    if (!submission.program.empty()) text += "    entrypoint: []\n";
    text +=
        fmt::format("    environment: {{AKO_PEER: {}, AKO_FILE: {}, OMP_NUM_THREADS: \"{}\"}}\n",
                    safe_text(peer.name), cluster_file_there, submission.resources.threads());
    if (const auto observed = observe_address(settings, index))
        text += fmt::format("    ports: [{{target: {}, published: {}, mode: host}}]\n",
                            observed->port, observed->port);
    return text + fmt::format("    command: [{}]", fmt::join(words, ", "));
}

std::vector<std::string> task_fields(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, '|');) fields.push_back(part);
    fields.resize(4);
    return fields;
}

/// "Running 3 seconds ago" is running.
EnginePhase phase_of_task(const std::string& state) {
    if (state == "Running") return EnginePhase::running;
    for (const char* ended : {"Complete", "Failed", "Shutdown", "Rejected", "Remove", "Orphaned"})
        if (state == ended) return EnginePhase::ended;
    return EnginePhase::queued;
}

bool is_gone(const std::string& said) {
    return said.find("nothing found in stack") != std::string::npos;
}

std::string listed(const std::vector<std::string>& words) {
    return trimmed(engine_says(words, ""));
}

std::string of_stack(const std::string& id) {
    return fmt::format("label=com.docker.stack.namespace={}", id);
}

}  // namespace

EngineState swarm_state(const std::string& said) {
    EngineState state;
    std::istringstream lines(said);
    std::set<std::string> services, machines;
    std::map<std::string, unsigned> counts;
    std::string error;
    unsigned tasks = 0;
    bool running = false, queued = false;
    for (std::string line; std::getline(lines, line);) {
        const std::vector<std::string> fields = task_fields(line);
        if (trimmed(fields[0]).empty()) continue;
        ++tasks;
        if (!services.insert(fields[0]).second) continue;  // an earlier task of the same
        const std::string word = fields[1].substr(0, fields[1].find(' '));
        const EnginePhase phase = phase_of_task(word);
        running |= phase == EnginePhase::running;
        queued |= phase == EnginePhase::queued;
        ++counts[word];
        if (!fields[2].empty()) error = fields[2];
        if (!fields[3].empty()) machines.insert(fields[3]);
    }
    state.phase = running  ? EnginePhase::running
                  : queued ? EnginePhase::queued
                           : EnginePhase::ended;
    for (const auto& [word, count] : counts)
        state.words += fmt::format("{}{} {}", state.words.empty() ? "" : ", ", count, word);
    if (!error.empty()) state.words += " (" + trimmed(error) + ")";
    state.requeues = tasks - static_cast<unsigned>(services.size());
    state.machines.assign(machines.begin(), machines.end());
    return state;
}

Settings SwarmEngine::settings_there(const Submission& submission) const {
    Settings there =
        settings_in_containers(submission.settings, service_hosts(submission.settings));
    if (const auto first = observe_address(submission.settings, 0))
        there.observe.address = fmt::format("0.0.0.0:{}", first->port);
    return there;
}

std::vector<EngineFile> SwarmEngine::render(const Submission& submission) const {
    const Settings& settings = submission.settings;
    const Resources& resources = submission.resources;
    refuse_options("a Swarm", {{"--time", !resources.time.empty()},
                               {"--array", !resources.array.empty()},
                               {"--broadcast", resources.broadcast},
                               {"--spare", resources.spare > 0}});
    std::string services;
    for (PeerIndex k = 0; k < settings.peers.size(); ++k)
        services += (k == 0 ? "" : "\n") + service(submission, k);
    const bool back = may_come_back(settings) && submission.restarts > 0;
    const std::string policy =
        back
            ? fmt::format("condition: on-failure, delay: 1s, max_attempts: {}", submission.restarts)
            : "condition: none";
    std::string share = fmt::format("cpus: \"{}\"", resources.cpus);
    if (resources.memory_mb > 0) share += fmt::format(", memory: {}M", resources.memory_mb);
    const std::string text =
        filled(swarm_template(),
               {{"run", settings.run},
                {"peers", fmt::to_string(settings.peers.size())},
                {"name", engine_name(submission.name())},
                {"image", safe_text(resources.image)},
                {"grace_s", fmt::to_string(container_grace_s)},
                {"cluster_file", cluster_file_there},
                {"user", container_user},
                {"results", results_there},
                {"mounts", mounts_text(settings)},
                {"restart_policy", policy},
                {"constraint", resources.partition.empty() ? "" : safe_text(resources.partition)},
                {"share", share},
                {"key_file", safe_text(settings.cluster_key_file)},
                {"services", services}});
    return {{stack_file, text}};
}

void SwarmEngine::check(const Submission& submission) const {
    engine_says({"docker", "node", "ls"}, is_swarm_hint);
    const std::string& image = submission.resources.image;
    try {
        engine_says({"docker", "image", "inspect", "--format", "{{.Id}}", image}, "");
    } catch (const StartupError&) {
        engine_says({"docker", "manifest", "inspect", image},
                    "every node needs the image: build it there (deploy/Dockerfile), or name one "
                    "of a registry with --image");
    }
}

std::string SwarmEngine::submit(const Submission& submission) const {
    check(submission);
    const std::string id = engine_name(submission.name());
    // To deploy it again would change what runs.
    if (!listed({"docker", "service", "ls", "--quiet", "--filter", of_stack(id)}).empty())
        throw StartupError("there is a stack " + id + " already",
                           "name another folder with --output-dir");
    try {
        engine_says(
            {"docker", "stack", "deploy", "--detach=true", "-c", submission.path(stack_file), id},
            is_swarm_hint);
    } catch (const StartupError& error) {
        SubmittedRun half;  // of it may be there
        half.id = id;
        try {
            cancel(half);
        } catch (const StartupError& left) {
            throw StartupError(fmt::format("{}; and {}", error.what(), left.what()), error.hint());
        }
        throw;
    }
    return id;
}

EngineState SwarmEngine::state(const SubmittedRun& run) const {
    try {
        return swarm_state(engine_says({"docker", "stack", "ps", "--no-trunc", "--format",
                                        "{{.Name}}|{{.CurrentState}}|{{.Error}}|{{.Node}}", run.id},
                                       is_swarm_hint));
    } catch (const StartupError& error) {
        if (is_gone(error.what())) return {EnginePhase::ended, "taken away"};
        throw;
    }
}

std::vector<std::string> SwarmEngine::logs_command(const SubmittedRun& run, bool follow) const {
    std::string script;
    for (const std::string& peer : run.peers) {
        std::vector<std::string> words = {"docker", "service", "logs", "--raw=false"};
        if (follow) words.emplace_back("--follow");
        words.push_back(fmt::format("{}_{}", run.id, service_host(peer)));
        script += quoted_words(words) + (follow ? " & " : "; ");
    }
    return {"sh", "-c", script + (follow ? "wait" : "true")};
}

void SwarmEngine::cancel(const SubmittedRun& run) const {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(stack_patience_s);
    const std::string filter = of_stack(run.id);
    while (true) {
        // A network goes once its last container has: asked again until all is gone.
        try {
            engine_says({"docker", "stack", "rm", run.id}, is_swarm_hint);
        } catch (const StartupError& error) {
            if (std::string_view(error.what()).find("network") == std::string_view::npos) throw;
        }
        if (listed({"docker", "ps", "--all", "--quiet", "--filter", filter}).empty() &&
            listed({"docker", "network", "ls", "--quiet", "--filter", filter}).empty())
            return;
        if (std::chrono::steady_clock::now() > until)
            throw StartupError(fmt::format("stack {} was removed, and parts of it are still there "
                                           "after {:g} s",
                                           run.id, stack_patience_s),
                               fmt::format("`docker stack ps {}` shows them", run.id));
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
}

std::string SwarmEngine::fetch(const SubmittedRun& run) const {
    const std::string volume = run.id + "_results";
    if (listed({"docker", "volume", "ls", "--quiet", "--filter", "name=^" + volume + "$"}).empty())
        return fmt::format("what its peers wrote is in the volume {} of their nodes", volume);
    const std::string container = listed(
        {"docker", "create", "--volume", fmt::format("{}:{}", volume, results_there), run.image});
    const auto remove = [&container] {
        run_command({"docker", "rm", "--force", container}, remove_patience_s);
    };
    try {
        engine_says({"docker", "cp", fmt::format("{}:{}/.", container, results_there), run.folder},
                    "is there room?");
    } catch (const StartupError&) {
        remove();
        throw;
    }
    remove();
    // As long as the stack is there its containers hold it.
    run_command({"docker", "volume", "rm", volume}, remove_patience_s);
    return fmt::format("what peers on this node wrote is in {}", run.folder);
}

}  // namespace ako
