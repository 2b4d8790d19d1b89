#include "src/results/metrics_line.h"

#include <nlohmann/json.hpp>

#include "src/results/json_number.h"
#include "src/results/rates.h"
#include "src/results/renamed_key.h"

namespace ako {

namespace {

using nlohmann::ordered_json;

ordered_json to_json(const LinkLine& link) {
    return {{"peer", link.peer},
            {"presence", word(link.presence)},
            {"live", link.live},
            {"advancing", link.advancing},
            {"left_out", link.left_out},
            {"joining", link.joining},
            {"standing", word(standing_of(link))},
            {"since", thousandths(link.since)},
            {"why", link.why},
            {"ended", link.ended},
            {"partitions", thousandths(link.partitions)},
            {"staleness_rounds", link.staleness_rounds},
            {"staleness_ms", thousandths(link.staleness_ms)},
            {"age_ms", thousandths(link.age_ms)},
            {"answer_ms", thousandths(link.answer_ms)},
            {"sessions", link.sessions},
            {"rejects", link.rejects},
            {"damaged_blocks", link.damaged_blocks},
            {"diverged_blocks", link.diverged_blocks},
            {"round_trip_ms", thousandths(link.round_trip_ms)},
            {"delivery_mbit", thousandths(link.delivery_mbit)},
            {"retransmits", link.retransmits},
            {"egress_bytes", link.egress_bytes},
            {"ingress_bytes", link.ingress_bytes},
            {"egress_mbit", thousandths(link.egress_mbit)},
            {"ingress_mbit", thousandths(link.ingress_mbit)},
            {"round", link.round},
            {"samples", link.samples},
            {"samples_per_s", thousandths(link.samples_per_s)},
            {"loss", or_null(link.loss)},
            {"usage",
             {{"full", thousandths(link.usage.full)},
              {"egress_mbit", thousandths(link.usage.egress_mbit)},
              {"round_trip_ms", thousandths(link.usage.round_trip_ms)},
              {"staleness_rounds", thousandths(link.usage.staleness_rounds)}}}};
}

ordered_json to_json(const Usage& usage) {
    return {{"seconds", thousandths(usage.seconds)},
            {"rounds_per_s", thousandths(usage.rounds_per_s)},
            {"gradient", thousandths(usage.gradient)},
            {"input", thousandths(usage.input)},
            {"wait", thousandths(usage.wait)},
            {"compute_running", thousandths(usage.compute_running)},
            {"compute_runnable", thousandths(usage.compute_runnable)},
            {"network_running", thousandths(usage.network_running)},
            {"network_runnable", thousandths(usage.network_runnable)},
            {"throttled", thousandths(usage.throttled)},
            {"major_faults_per_s", thousandths(usage.major_faults_per_s)}};
}

Usage usage_from(const ordered_json& json) {
    return {json.at("seconds"),
            json.at("rounds_per_s"),
            json.at("gradient"),
            json.at("input"),
            json.at("wait"),
            json.at("compute_running"),
            json.at("compute_runnable"),
            json.at("network_running"),
            json.at("network_runnable"),
            json.at("throttled"),
            json.at("major_faults_per_s")};
}

LinkUsage link_usage_from(const ordered_json& json) {
    return {json.at("full"), json.at("egress_mbit"), json.at("round_trip_ms"),
            json.at("staleness_rounds")};
}

LinkLine link_from(const ordered_json& json) {
    return {json.at("peer"),
            presence_of(json.at("presence").get<std::string>()).value(),
            json.at("live"),
            json.at("advancing"),
            json.at("joining"),
            json.at("since"),
            json.at("why"),
            json.at("partitions"),
            json.at("staleness_rounds"),
            json.at("staleness_ms"),
            json.at("age_ms"),
            json.at("answer_ms"),
            json.at("sessions"),
            json.at("rejects").get<std::map<std::string, std::uint64_t>>(),
            json.at("damaged_blocks"),
            json.at("diverged_blocks"),
            json.at("round_trip_ms"),
            json.at("delivery_mbit"),
            json.at("retransmits"),
            json.at("egress_bytes"),
            json.at("ingress_bytes"),
            json.at("egress_mbit"),
            json.at("ingress_mbit"),
            json.at("round"),
            json.at(key_in(json, "samples")),
            json.at(key_in(json, "samples_per_s")),
            optional_number(json.at("loss")),
            link_usage_from(json.at("usage")),
            json.at("ended"),
            json.value("left_out", false)};
}

}  // namespace

PeerStanding standing_of(const LinkLine& link) {
    const PeerStanding seen = standing_of(link.presence, link.advancing, link.left_out,
                                          link.joining, link.round);
    return seen == PeerStanding::left && !link.ended.empty() ? PeerStanding::ended : seen;
}

std::string to_json_text(const MetricsLine& line) {
    ordered_json json = {
        {"time", thousandths(line.time)},  {"phase", line.phase},
        {"waiting_for", line.waiting_for}, {"round", line.round},
        {"samples", line.samples},         {"samples_per_s", thousandths(line.samples_per_s)},
        {"loss", or_null(line.loss)}};
    json["losses_not_finite"] = line.losses_not_finite;
    json["noise_scale"] = or_null(line.noise_scale);
    json["checkpoints"] = nullptr;
    if (line.checkpoints)
        json["checkpoints"] = {{"seconds", thousandths(line.checkpoints->seconds)},
                               {"share", line.checkpoints->share}};
    json["learners"] = line.learners;
    json["accuracy"] = or_null(line.accuracy);
    json["accuracy_at"] = or_null(line.accuracy_at);
    json["progress"] = line.progress;
    json["agreed"] = line.agreed ? ordered_json(*line.agreed) : ordered_json(nullptr);
    json["egress_mbit"] = thousandths(line.egress_mbit);
    json["ingress_mbit"] = thousandths(line.ingress_mbit);
    json["egress_bytes"] = line.egress_bytes;
    json["ingress_bytes"] = line.ingress_bytes;
    json["cpu_seconds"] = thousandths(line.cpu_seconds);
    json["memory_bytes"] = line.memory_bytes;
    json["memory_limit"] = line.memory_limit;
    for (const RoundPart part : round_parts) {
        const PartDurations& took = line.round_parts[part];
        json["round_parts"][word(part)] = {{"seconds", thousandths(took.seconds)},
                                           {"counts", took.counts}};
    }
    json["usage"] = to_json(line.usage);
    json["links"] = ordered_json::array();
    for (const LinkLine& link : line.links) json["links"].push_back(to_json(link));
    return json.dump();
}

std::optional<MetricsLine> parse_metrics_line(const std::string& text) try {
    const ordered_json json = ordered_json::parse(text);
    MetricsLine line;
    line.time = json.at("time");
    line.phase = json.at("phase");
    line.waiting_for = json.at("waiting_for").get<std::vector<std::string>>();
    line.round = json.at("round");
    line.samples = json.at(key_in(json, "samples"));
    line.samples_per_s = json.at(key_in(json, "samples_per_s"));
    line.loss = optional_number(json.at("loss"));
    line.losses_not_finite = json.at("losses_not_finite");
    line.noise_scale = optional_number(json.at("noise_scale"));
    if (const auto paced = json.value("checkpoints", ordered_json()); !paced.is_null())
        line.checkpoints = CheckpointInterval{paced.at("seconds"), paced.at("share")};
    line.learners = json.at("learners");
    line.accuracy = optional_number(json.at("accuracy"));
    line.accuracy_at = optional_number(json.at("accuracy_at"));
    line.progress = json.at("progress");
    if (const ordered_json& agreed = json.at("agreed"); !agreed.is_null())
        line.agreed = agreed.get<bool>();
    line.egress_mbit = json.at("egress_mbit");
    line.ingress_mbit = json.at("ingress_mbit");
    line.egress_bytes = json.at("egress_bytes");
    line.ingress_bytes = json.at("ingress_bytes");
    line.cpu_seconds = json.at("cpu_seconds");
    line.memory_bytes = json.at("memory_bytes");
    line.memory_limit = json.at("memory_limit");
    for (const RoundPart part : round_parts) {
        const ordered_json& took = json.at("round_parts").at(word(part));
        line.round_parts[part].seconds = took.at("seconds");
        took.at("counts").get_to(line.round_parts[part].counts);
    }
    line.usage = usage_from(json.at("usage"));
    for (const ordered_json& link : json.at("links")) line.links.push_back(link_from(link));
    return line;
} catch (const nlohmann::json::exception&) {
    return std::nullopt;
} catch (const std::bad_optional_access&) {  // a word that is no presence
    return std::nullopt;
}

}  // namespace ako
