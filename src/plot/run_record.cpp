#include "src/plot/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "ako/error.h"
#include "ako/plain_file.h"
#include "src/config/cluster_file.h"
#include "src/results/json_number.h"

namespace ako {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::string_view metrics_prefix = "metrics-";
constexpr std::string_view metrics_suffix = ".jsonl";
/// In seconds. The last line of the training comes soon after the one before, and would show of
/// some rounds how much they differ, and not how they went on.
constexpr double figures_min_s = 0.5;
constexpr const char* other_version = "was it written by another version of ako?";

[[noreturn]] void refuse_folder(const std::string& folder, const std::string& what) {
    throw StartupError(folder + ": " + what, "name the folder of a run, such as runs/latest");
}

std::ifstream open_to_read(const fs::path& path) {
    refuse_what_is_no_file(path.string());
    std::ifstream in(path);
    if (!in)
        throw StartupError(fmt::format("{}: cannot be read: {}", path.string(),
                                       std::generic_category().message(errno)));
    return in;
}

/// The peer whose metrics these are; nothing if the file is another one.
std::optional<std::string> peer_of(const fs::path& path) {
    const std::string name = path.filename().string();
    if (!name.starts_with(metrics_prefix) || !name.ends_with(metrics_suffix) ||
        name.size() <= metrics_prefix.size() + metrics_suffix.size())
        return std::nullopt;
    return name.substr(metrics_prefix.size(),
                       name.size() - metrics_prefix.size() - metrics_suffix.size());
}

/// Did another process write this line than the one before? Within one none of these falls.
bool begins_anew(const MetricsLine& before, const MetricsLine& line) {
    return line.time < before.time || line.cpu_seconds < before.cpu_seconds ||
           line.egress_bytes < before.egress_bytes;
}

PeerRecord read_peer(const fs::path& path, std::string name) {
    PeerRecord peer;
    peer.name = std::move(name);
    std::ifstream in = open_to_read(path);
    std::string text;
    for (std::size_t number = 1; std::getline(in, text) && !in.eof(); ++number) {
        if (text.empty()) continue;
        std::optional<MetricsLine> line = parse_metrics_line(text);
        if (!line)
            throw StartupError(fmt::format("{}:{}: no line of metrics", path.string(), number),
                               other_version);
        add_line(peer, std::move(*line));
    }
    return peer;
}

/// The place of a peer in the cluster file; of others, behind them.
std::size_t place_of(const std::string& name, const std::vector<std::string>& names) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

std::vector<PeerRecord> read_peers(const std::string& folder,
                                   const std::optional<Settings>& settings) {
    std::vector<PeerRecord> peers;
    bool any_file = false;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const std::optional<std::string> name = peer_of(entry.path());
        if (!name) continue;
        any_file = true;
        PeerRecord peer = read_peer(entry.path(), *name);
        if (!peer.moments.empty()) peers.push_back(std::move(peer));
    }
    if (!any_file) refuse_folder(folder, "there are no metrics (metrics-<peer>.jsonl) in it");
    if (peers.empty())
        throw StartupError(folder + ": its metrics have no whole line yet",
                           "of a run that has just begun there is one after a second");
    const std::vector<std::string> names =
        settings ? peer_names(*settings) : std::vector<std::string>();
    std::sort(peers.begin(), peers.end(), [&names](const PeerRecord& one, const PeerRecord& two) {
        return std::pair(place_of(one.name, names), one.name) <
               std::pair(place_of(two.name, names), two.name);
    });
    return peers;
}

/// What `take` makes of a JSON file; nothing where there is none.
template <class Take>
auto read_json(const fs::path& path, Take take)
    -> std::optional<decltype(take(std::declval<ordered_json>()))> {
    if (!fs::exists(path)) return std::nullopt;
    std::ifstream in = open_to_read(path);
    try {
        return take(ordered_json::parse(in));
    } catch (const nlohmann::json::exception& error) {
        throw StartupError(fmt::format("{}: cannot be understood: {}", path.string(), error.what()),
                           other_version);
    }
}

void take_training(PeerMoment& moment, const MetricsLine& line) {
    moment.loss = line.loss;
    moment.samples_per_s = line.samples_per_s;
    if (line.phase != "training") return;  // the final exchange brings the links what they lack
    if (const double known = line.partitions(); known > 0) moment.partitions = known;
    if (line.any_live()) moment.staleness_rounds = static_cast<double>(line.staleness_rounds());
}

RunOutcome outcome_from(const ordered_json& json) {
    RunOutcome outcome;
    outcome.seconds = json.at("seconds");
    outcome.accuracy = optional_number(json.at("accuracy"));
    outcome.replicas_identical = json.at("replicas_identical");
    outcome.finished_with = json.at("finished_with").get<std::vector<std::string>>();
    outcome.lost_peers = json.at("lost_peers").get<std::vector<std::string>>();
    outcome.digest = json.at("digest");
    outcome.exit = json.at("exit");
    return outcome;
}

}  // namespace

void add_line(PeerRecord& peer, MetricsLine line) {
    const PeerMoment last = peer.moments.empty() ? PeerMoment() : peer.moments.back();
    const bool anew = !peer.moments.empty() && begins_anew(peer.newest, line);
    const MetricsLine before = anew ? MetricsLine() : std::move(peer.newest);
    PeerMoment moment;
    moment.process = last.process + (anew ? 1 : 0);
    moment.seconds = last.seconds + line.time - before.time;
    moment.accuracy = line.accuracy;
    moment.accuracy_at = line.accuracy_at;
    const bool trains = line.phase == "training" || line.round > before.round;
    if (trains && line.time - before.time >= figures_min_s) take_training(moment, line);
    peer.samples += line.samples - before.samples;
    peer.egress_bytes += line.egress_bytes - before.egress_bytes;
    peer.ingress_bytes += line.ingress_bytes - before.ingress_bytes;
    peer.cpu_seconds += line.cpu_seconds - before.cpu_seconds;
    peer.moments.push_back(moment);
    peer.newest = std::move(line);
}

double RunRecord::seconds() const {
    double last = 0;
    for (const PeerRecord& peer : peers) last = std::max(last, peer.moments.back().seconds);
    return last;
}

RunRecord read_run(const std::string& folder) {
    std::error_code error;
    const fs::path at = folder;
    if (!fs::exists(at, error)) refuse_folder(folder, "there is no such folder");
    if (!fs::is_directory(at, error)) refuse_folder(folder, "this is no folder");
    RunRecord run;
    run.name = fs::canonical(at).filename().string();
    const fs::path config = at / "config.yaml";
    if (fs::exists(config)) run.settings = read_cluster_file(config.string(), {});
    run.peers = read_peers(folder, run.settings);
    run.outcome = read_json(at / "summary.json", outcome_from);
    const auto points = [](const ordered_json& json) { return points_from(json.at("points")); };
    run.curve = read_json(at / "curve.json", points).value_or(std::vector<CurvePoint>());
    return run;
}

}  // namespace ako
