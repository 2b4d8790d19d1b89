// See kubernetes.h.
#include "src/engines/kubernetes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "ako/error.h"
#include "ako/replace_all.h"
#include "src/config/cluster_file.h"
#include "src/config/field_types.h"
#include "src/config/peer_list.h"
#include "src/engines/containers.h"
#include "src/engines/engine_command.h"
#include "src/engines/template_text.h"
#include "src/engines/time_limit.h"
#include "src/system/whole_file.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

constexpr const char* manifests = "kubernetes";
constexpr unsigned observe_port = 9470;  ///< of the first pod; each next one has the next
constexpr const char* context_hint =
    "`kubectl config get-contexts` lists the clusters that it knows, `kubectl config use-context` "
    "chooses one";

std::vector<std::string> pod_hosts(const Submission& submission) {
    const std::string name = engine_name(submission.name());
    std::vector<std::string> hosts;
    for (std::size_t k = 0; k < submission.settings.peers.size(); ++k)
        hosts.push_back(fmt::format("{}-{}.{}", name, k, name));
    return hosts;
}

/// What a pod does: which peer it is goes by its index.
std::string script_of(const Submission& submission) {
    const std::vector<std::string> names = peer_names(submission.settings);
    const std::string choose =
        fmt::format("set -- {}; shift \"$JOB_COMPLETION_INDEX\"; AKO_PEER=$1; export AKO_PEER; ",
                    fmt::join(names, " "));
    if (submission.program.empty())
        return choose + fmt::format(
                            "exec ako train {} --peer \"$AKO_PEER\" --resume-if-any --plain "
                            "--set output={}/\"$AKO_PEER\"",
                            cluster_file_there, results_there);
    // {name} and {number} are the pod's.
    std::string words;
    for (const std::string& word : submission.program) {
        std::string text = quoted_words({word});
        replace_all(text, "{name}", "'\"$AKO_PEER\"'");
        replace_all(text, "{number}", "'\"$((JOB_COMPLETION_INDEX + 1))\"'");
        words += (words.empty() ? "" : " ") + text;
    }
    return choose + "exec " + words;
}

std::string deadline_of(const Resources& resources) {
    const auto limit = time_limit_s(resources.time);
    return limit ? fmt::to_string(*limit) : "";
}

std::string node_selector(const std::string& said) {
    if (said.empty()) return "";
    const std::size_t equals = said.find('=');
    if (equals == std::string::npos)
        throw StartupError("--partition: for Kubernetes this is LABEL=VALUE of nodes, not " + said,
                           "`kubectl get nodes --show-labels` shows them");
    return fmt::format("{{{}: {}}}", quote(said.substr(0, equals)), quote(said.substr(equals + 1)));
}

std::string share_of(const Resources& resources) {
    std::string share = fmt::format("cpu: \"{}\"", resources.cpus);
    if (resources.memory_mb > 0) share += fmt::format(", memory: {}Mi", resources.memory_mb);
    return share;
}

}  // namespace

EngineState kubernetes_state(const std::string& said) {
    const nlohmann::json all = nlohmann::json::parse(said, nullptr, false);
    if (all.is_discarded() || !all.contains("items"))
        throw StartupError("kubectl did not answer in JSON: " + said.substr(0, 200));
    EngineState state;
    std::map<std::string, unsigned> phases;
    std::set<std::string> machines;
    bool job = false, over = false;
    std::string why;
    for (const auto& item : all["items"]) {
        const auto status = item.value("status", nlohmann::json::object());
        if (item.value("kind", "") == "Job") {
            job = true;
            state.requeues = status.value("failed", 0U);
            for (const auto& condition : status.value("conditions", nlohmann::json::array())) {
                const std::string type = condition.value("type", "");
                if (condition.value("status", "") != "True") continue;
                over |= type == "Complete" || type == "Failed";
                if (type == "Failed") why = condition.value("message", "");
            }
            continue;
        }
        ++phases[status.value("phase", "Unknown")];
        if (const auto spec = item.value("spec", nlohmann::json::object());
            spec.contains("nodeName"))
            machines.insert(spec["nodeName"].get<std::string>());
    }
    const bool runs = phases.contains("Running");
    state.phase = over || !job ? EnginePhase::ended
                  : runs       ? EnginePhase::running
                               : EnginePhase::queued;
    for (const auto& [phase, count] : phases)
        state.words += fmt::format("{}{} {}", state.words.empty() ? "" : ", ", count, phase);
    if (!why.empty()) state.words += " (" + why + ")";
    if (!job) state.words = "taken away";
    state.machines.assign(machines.begin(), machines.end());
    return state;
}

Settings KubernetesEngine::settings_there(const Submission& submission) const {
    Settings there = settings_in_containers(submission.settings, pod_hosts(submission));
    there.observe.address = fmt::format("0.0.0.0:{}", observe_port);
    return there;
}

std::vector<EngineFile> KubernetesEngine::render(const Submission& submission) const {
    const Settings& settings = submission.settings;
    refuse_options("Kubernetes", {{"--array", !submission.resources.array.empty()},
                                  {"--broadcast", submission.resources.broadcast},
                                  {"--spare", submission.resources.spare > 0}});
    if (!settings.model.initial.empty())
        throw at_key(settings, "model.initial",
                     StartupError("a file of this machine is not on those of Kubernetes",
                                  "put it into the claim ako-data, and write its path there"));
    const std::string name = engine_name(submission.name());
    const std::size_t peers = settings.peers.size();
    const bool back = may_come_back(settings);
    // An image of the user's own may have no `ako`.
    const std::string health =
        submission.program.empty()
            ? fmt::format(
                  "exec: {{command: [\"sh\", \"-c\", \"exec ako status --health "
                  "127.0.0.1:$(({} + JOB_COMPLETION_INDEX))\"]}}",
                  observe_port)
            : fmt::format("tcpSocket: {{port: {}}}", container_port);
    const std::string run = filled(
        kubernetes_template(), {{"run", settings.run},
                                {"name", name},
                                {"peers", fmt::to_string(peers)},
                                {"port", fmt::to_string(container_port)},
                                {"deadline_s", deadline_of(submission.resources)},
                                {"restarts", fmt::to_string(back ? submission.restarts : 0)},
                                {"failures", fmt::to_string(back ? (peers - 1) / 2 : 0)},
                                {"grace_s", fmt::to_string(container_grace_s)},
                                {"node_selector", node_selector(submission.resources.partition)},
                                {"user", container_user},
                                {"image", quote(submission.resources.image)},
                                {"script", quote(script_of(submission))},
                                {"cluster_file", cluster_file_there},
                                {"threads", fmt::to_string(submission.resources.threads())},
                                {"share", share_of(submission.resources)},
                                {"health", health},
                                {"key_folder", fs::path(secret_there).parent_path().string()},
                                {"results", results_there},
                                {"majority", fmt::to_string(peers / 2 + 1)}});
    const auto in = [](const char* file) { return fmt::format("{}/{}", manifests, file); };
    return {
        {in("base/run.yaml"), run},
        {in("base/kustomization.yaml"),
         filled(kubernetes_base_template(), {{"run", settings.run}, {"name", name}})},
        {in("base/cluster.yaml"), write_cluster_text(settings_there(submission))},
        {in("base/cluster.key"), whole_text(settings.cluster_key_file), true},
        {in("kustomization.yaml"), filled(kubernetes_overlay_template(), {{"run", settings.run}})}};
}

void KubernetesEngine::check(const Submission& submission) const {
    engine_says({"kubectl", "apply", "--dry-run=server", "-k", submission.path(manifests)},
                context_hint);
}

std::string KubernetesEngine::submit(const Submission& submission) const {
    const std::string folder = submission.path(manifests);
    const std::string id = engine_name(submission.name());
    // To apply it again would change what runs, and to take it back would take that.
    if (!trimmed(
             engine_says({"kubectl", "get", "job", id, "--ignore-not-found", "--output", "name"},
                         context_hint))
             .empty())
        throw StartupError("there is a Job " + id + " already",
                           "name another folder with --output-dir");
    try {
        engine_says({"kubectl", "apply", "-k", folder}, context_hint);
    } catch (const StartupError&) {
        // Part of it may be there.
        try {
            engine_says({"kubectl", "delete", "--ignore-not-found", "-k", folder}, "");
        } catch (const StartupError&) {  // the first reason is the one to tell
        }
        throw;
    }
    return id;
}

EngineState KubernetesEngine::state(const SubmittedRun& run) const {
    return kubernetes_state(
        engine_says({"kubectl", "get", "job,pods", "--selector",
                     "app.kubernetes.io/instance=" + run.id, "--output", "json"},
                    context_hint));
}

std::vector<std::string> KubernetesEngine::logs_command(const SubmittedRun& run,
                                                        bool follow) const {
    std::vector<std::string> words = {
        "kubectl",  "logs",      "--selector",           "app.kubernetes.io/instance=" + run.id,
        "--prefix", "--tail=-1", "--max-log-requests=64"};
    if (follow) words.emplace_back("--follow");
    return words;
}

void KubernetesEngine::cancel(const SubmittedRun& run) const {
    // The claim with the results stays.
    engine_says({"kubectl", "delete", "--ignore-not-found", "--wait=true",
                 "job,service,configmap,secret,poddisruptionbudget,networkpolicy", "--selector",
                 "app.kubernetes.io/instance=" + run.id},
                context_hint);
    engine_says({"kubectl", "delete", "--ignore-not-found", "configmap,secret", run.id}, "");
}

std::string KubernetesEngine::fetch(const SubmittedRun& run) const {
    return fmt::format(
        "what the peers wrote is in the claim {}; a pod that mounts it gives it to `kubectl cp`",
        run.id);
}

}  // namespace ako
