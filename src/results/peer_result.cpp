#include "src/results/peer_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/results/json_number.h"
#include "src/results/number_text.h"
#include "src/results/renamed_key.h"
#include "src/results/run_folder.h"

namespace ako {

namespace {

using nlohmann::ordered_json;

ordered_json moment_or_null(const std::optional<Time>& moment) {
    return moment ? ordered_json(moment->count()) : ordered_json(nullptr);
}

/// Digits of a digest that people compare.
constexpr std::size_t digest_digits = 16;

/// Less would be told as 0.0 s.
constexpr double waiting_seconds_min = 0.05;

}  // namespace

std::string short_digest(const std::string& digest) { return digest.substr(0, digest_digits); }

std::string identical_text(const std::string& digest, const std::vector<std::string>& names) {
    return fmt::format("replicas identical: yes ({}) on {}", short_digest(digest),
                       fmt::join(names, ", "));
}

std::string lost_shard_text(const LostShard& shard) {
    const std::string start =
        shard.seen > 0
            ? fmt::format("{} was lost after {} samples: ", shard.peer, grouped(shard.seen))
            : fmt::format("{} has trained on nothing: ", shard.peer);
    if (shard.unseen() > 0)
        return start + fmt::format("{} of the {} in its data shard were never seen",
                                   grouped(shard.unseen()), grouped(shard.samples));
    return start +
           fmt::format("the {} in its data shard were seen {:.1f} times over, and then no more",
                       grouped(shard.samples),
                       static_cast<double>(shard.seen) / static_cast<double>(shard.samples));
}

ordered_json lost_shards_json(const std::vector<LostShard>& shards) {
    ordered_json list = ordered_json::array();
    for (const LostShard& shard : shards)
        list.push_back({{"peer", shard.peer},
                        {"samples", shard.samples},
                        {"seen", shard.seen},
                        {"unseen", shard.unseen()}});
    return list;
}

std::string differs_text(const std::string& name, const std::string& digest) {
    return fmt::format("replicas identical: no ({} has {})", name, short_digest(digest));
}

std::string waiting_text(const PeerResult& result) {
    if (result.finish_waiting_seconds < waiting_seconds_min) return "";
    const auto& lost = result.lost_peers;
    const bool all_lost = std::all_of(
        result.waited_for.begin(), result.waited_for.end(),
        [&](const auto& name) { return std::find(lost.begin(), lost.end(), name) != lost.end(); });
    const char* were = result.waited_for.size() == 1 ? "was" : "were";
    return fmt::format("{:.1f} s waiting for {}{}", result.finish_waiting_seconds,
                       fmt::join(result.waited_for, ", "),
                       all_lost ? fmt::format(", which {} lost", were) : "");
}

std::string handed_over_text(const PeerResult& result) {
    if (result.handed_to.empty())
        return fmt::format(
            "after {:.1f} s nobody had all that it learned: its last rounds may be lost",
            result.finish_seconds);
    return fmt::format("all that it learned is at {} ({:.1f} s)", fmt::join(result.handed_to, ", "),
                       result.finish_seconds);
}

std::string losses_text(const PeerResult& result) {
    if (result.losses_not_finite == 0) return "";
    return result.losses_not_finite == 1
               ? "1 loss is not a number"
               : fmt::format("{} losses are not numbers", grouped(result.losses_not_finite));
}

std::uint64_t samples_beyond(std::uint64_t made, std::uint64_t budget, double round,
                             std::size_t peers) {
    if (made <= budget) return 0;
    const bool more = static_cast<double>(made - budget) > round * static_cast<double>(peers);
    return more ? made - budget : 0;
}

std::string beyond_budget_text(const PeerResult& result) {
    if (result.samples_beyond == 0) return "";
    const std::uint64_t budget = result.samples_total - result.samples_beyond;
    const double percent =
        100 * static_cast<double>(result.samples_beyond) / static_cast<double>(budget);
    return fmt::format(
        "{} samples ({:.2g} %) beyond the budget of {}: the peers made them while word of its end "
        "was on its way",
        grouped(result.samples_beyond), percent, grouped(budget));
}

std::string stopped_early_text(double progress, const std::string& who) {
    // Rounded down: "100 %" would be no early end.
    const double percent = std::floor(100 * progress);
    const std::string share = percent < 1 ? "less than 1" : fmt::format("{:.0f}", percent);
    return fmt::format("stopped early at {} % of the budget: {}", share, who);
}

namespace {

/// What sets the line of a result apart from lines of metrics.
constexpr const char* result_key = "result";

ordered_json to_json(const PeerResult& result) {
    ordered_json json = {{"name", result.name},
                         {"ending", entry_of(result.ending).word},
                         {"why", result.why},
                         {"exit", result.exit},
                         {"seconds", result.seconds},
                         {"finish_seconds", result.finish_seconds},
                         {"finish_waiting_seconds", result.finish_waiting_seconds},
                         {"finish_serving_seconds", result.finish_serving_seconds},
                         {"waited_for", result.waited_for},
                         {"rounds", result.rounds},
                         {"samples", result.samples},
                         {"losses_not_finite", result.losses_not_finite},
                         {"samples_total", result.samples_total},
                         {"samples_beyond", result.samples_beyond},
                         {"egress_bytes", result.egress_bytes},
                         {"ingress_bytes", result.ingress_bytes},
                         {"training_began_ns", moment_or_null(result.training_began)},
                         {"egress_mbit", or_null(result.egress_mbit)},
                         {"accuracy", or_null(result.accuracy)},
                         {"loss", or_null(result.loss)},
                         {"agreed", result.agreed},
                         {"identical", result.identical},
                         {"digest", result.digest},
                         {"finished_with", result.finished_with},
                         {"lost_peers", result.lost_peers},
                         {"lost_shards", lost_shards_json(result.lost_shards)},
                         {"left_peers", left_peers_json(result.left_peers)},
                         {"handed_to", result.handed_to},
                         {"seen", seen_json(result.seen, result.samples_total)},
                         {"shards", ordered_json::array()},
                         {"stopped_at", or_null(result.stopped_at)},
                         {"asked_by", result.asked_by}};
    for (const ShardPasses& shard : result.shards)
        json["shards"].push_back(
            {{"peer", shard.peer}, {"samples", shard.samples}, {"seen", shard.seen}});
    add_figures(json, result.figures);
    json["curve"] = points_json(result.curve);
    return json;
}

/// Nothing if it names no ending. Throws what nlohmann throws.
std::optional<PeerResult> from_json(const ordered_json& json) {
    const auto ending = ending_of(json.at("ending").get<std::string>());
    if (!ending) return std::nullopt;
    PeerResult result;
    result.name = json.at("name");
    result.ending = *ending;
    result.why = json.at("why");
    result.exit = json.at("exit");
    result.seconds = json.at("seconds");
    result.finish_seconds = json.at("finish_seconds");
    result.finish_waiting_seconds = json.at("finish_waiting_seconds");
    result.finish_serving_seconds = json.at("finish_serving_seconds");
    result.waited_for = json.at("waited_for").get<std::vector<std::string>>();
    result.rounds = json.at("rounds");
    result.samples = json.at(key_in(json, "samples"));
    result.losses_not_finite = json.at("losses_not_finite");
    result.samples_total = json.at("samples_total");
    result.samples_beyond = json.at("samples_beyond");
    result.egress_bytes = json.at("egress_bytes");
    result.ingress_bytes = json.at("ingress_bytes");
    const ordered_json& began = json.at("training_began_ns");
    if (!began.is_null()) result.training_began = Time(began.get<Time::rep>());
    result.egress_mbit = optional_number(json.at("egress_mbit"));
    result.accuracy = optional_number(json.at("accuracy"));
    result.loss = optional_number(json.at("loss"));
    result.agreed = json.at("agreed");
    result.identical = json.at("identical");
    result.digest = json.at("digest");
    result.finished_with = json.at("finished_with").get<std::vector<std::string>>();
    result.lost_peers = json.at("lost_peers").get<std::vector<std::string>>();
    for (const ordered_json& shard : json.at("lost_shards"))
        result.lost_shards.push_back(
            {shard.at("peer"), shard.at(key_in(shard, "samples")), shard.at("seen")});
    result.seen = seen_from(json.at("seen"));
    result.left_peers = left_peers_from(json.at("left_peers"));
    result.handed_to = json.at("handed_to").get<std::vector<std::string>>();
    for (const ordered_json& shard : json.at("shards"))
        result.shards.push_back(
            {shard.at("peer"), shard.at(key_in(shard, "samples")), shard.at("seen")});
    result.stopped_at = optional_number(json.at("stopped_at"));
    result.asked_by = json.at("asked_by").get<std::vector<std::string>>();
    result.figures = figures_from(json);
    result.curve = points_from(json.at("curve"));
    return result;
}

/// Whatever bytes a path in it has: who tells how a run ended must not end by it.
std::string text_of(const ordered_json& json, int indent) {
    return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string result_text(const PeerResult& result) { return text_of(to_json(result), -1); }

std::string result_line(const PeerResult& result) {
    return text_of({{result_key, to_json(result)}}, -1);
}

std::optional<PeerResult> parse_result_line(const std::string& line) try {
    return from_json(ordered_json::parse(line).at(result_key));
} catch (const nlohmann::json::exception&) {
    return std::nullopt;
}

void write_result(const std::string& path, const PeerResult& result) {
    write_whole_file(path, text_of(to_json(result), 2));
}

std::optional<PeerResult> read_result(const std::string& path) try {
    std::ifstream in(path);
    if (!in) return std::nullopt;
    return from_json(ordered_json::parse(in));
} catch (const nlohmann::json::exception&) {
    return std::nullopt;
}

}  // namespace ako
