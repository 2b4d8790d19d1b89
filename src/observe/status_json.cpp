// See status_json.h.
#include "src/observe/status_json.h"

#include <nlohmann/json.hpp>

namespace ako {

using nlohmann::ordered_json;

std::string status_text(const Observed& observed) {
    const ObservedRun& run = observed.run;
    ordered_json json = {{"run", run.run},         {"peer", run.peer},
                         {"mode", run.mode},       {"model", run.model},
                         {"version", run.version}, {"commit", run.commit}};
    json["peers"] = ordered_json::array();
    for (const ObservedPeer& peer : run.peers)
        json["peers"].push_back({{"name", peer.name},
                                 {"host", peer.host},
                                 {"port", peer.port},
                                 {"role", peer.serves_only ? "server" : "worker"}});
    json["memory"] = run.memory;
    for (const PeerStanding standing : peer_standings)
        json["standings"][word(standing)] = words(standing);
    json["age"] = observed.age;
    json["line"] = ordered_json::parse(to_json_text(observed.line));
    return json.dump();
}

std::optional<Observed> parse_status(const std::string& text) try {
    const ordered_json json = ordered_json::parse(text);
    Observed observed;
    ObservedRun& run = observed.run;
    run.run = json.at("run");
    run.peer = json.at("peer");
    run.mode = json.at("mode");
    run.model = json.at("model");
    run.version = json.at("version");
    run.commit = json.at("commit");
    // No peer lists more; whatever does would have each of them asked.
    if (json.at("peers").size() > peers_max) return std::nullopt;
    for (const ordered_json& peer : json.at("peers"))
        run.peers.push_back({peer.at("name"), peer.at("host"), peer.at("port"),
                             peer.at("role") == "server"});
    json.at("memory").get_to(run.memory);
    observed.age = json.at("age");
    const std::optional<MetricsLine> line = parse_metrics_line(json.at("line").dump());
    if (!line) return std::nullopt;
    observed.line = *line;
    return observed;
} catch (const nlohmann::json::exception&) {
    return std::nullopt;
}

}  // namespace ako
