#include "src/compare/cell_result.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/compare/spread.h"
#include "src/results/renamed_key.h"
#include "src/system/whole_file.h"

namespace ako {

namespace {

using nlohmann::ordered_json;

std::optional<ordered_json> read_json(const std::string& path) try {
    std::ifstream in(path);
    if (!in) return std::nullopt;
    return ordered_json::parse(in);
} catch (const ordered_json::exception&) {
    return std::nullopt;
}

/// The number at "round_ms.p50"; nullopt if something else is there, or nothing.
std::optional<double> number_at(const ordered_json& json, const std::string& path) {
    const ordered_json* value = &json;
    for (std::size_t from = 0; from <= path.size();) {
        const std::size_t dot = std::min(path.find('.', from), path.size());
        if (!value->is_object()) return std::nullopt;
        const auto found = value->find(key_in(*value, path.substr(from, dot - from)));
        if (found == value->end()) return std::nullopt;
        value = &*found;
        from = dot + 1;
    }
    return value->is_number() ? std::optional<double>(value->get<double>()) : std::nullopt;
}

/// Those of the peers that have it.
std::vector<double> of_peers(const ordered_json& peers, const std::string& path) {
    std::vector<double> values;
    for (const ordered_json& peer : peers) {
        if (const std::optional<double> value = number_at(peer, path)) values.push_back(*value);
    }
    return values;
}

std::optional<double> sum(const std::vector<double>& values) {
    const std::optional<double> average = mean(values);
    if (!average) return std::nullopt;
    return *average * static_cast<double>(values.size());
}

/// What a peer sent while it trained or served; of one that says only what it sent in all, that.
std::optional<double> egress_mbit_of(const ordered_json& peer, double seconds) {
    constexpr double megabits = 8e-6;
    if (const std::optional<double> said = number_at(peer, "egress_mbit")) return said;
    const std::optional<double> per_round = number_at(peer, "egress_bytes_per_round");
    const std::optional<double> rounds = number_at(peer, "rounds");
    const std::optional<double> own = number_at(peer, "train_seconds");
    if (per_round && rounds && *rounds > 0 && own && *own > 0)
        return *per_round * *rounds * megabits / *own;
    const std::optional<double> bytes = number_at(peer, "egress_bytes");
    return bytes ? std::optional(*bytes * megabits / seconds) : std::nullopt;
}

/// The pace of a peer that trained to its end; one that was killed on the way says none. It is 0
/// for a worker that came to no round, because others had made all of them.
std::optional<double> samples_per_s_of(const ordered_json& peer) {
    const std::optional<double> samples = number_at(peer, "samples");
    if (samples == 0.0 && number_at(peer, "exit") == 0.0 && peer.value("role", "") == "worker")
        return 0;
    const std::optional<double> seconds = number_at(peer, "train_seconds");
    if (!samples || *samples <= 0 || !seconds || *seconds <= 0) return std::nullopt;
    const std::optional<double> said = number_at(peer, "samples_per_s");
    return said ? said : std::optional(*samples / *seconds);
}

/// In a round of those that train; a server makes none, and says only what it sent in all.
std::optional<double> busiest_bytes_per_round(const ordered_json& peers, double rounds) {
    std::optional<double> busiest;
    for (const ordered_json& peer : peers) {
        std::optional<double> bytes = number_at(peer, "egress_bytes_per_round");
        if (const auto all = number_at(peer, "egress_bytes"); !bytes && all) bytes = *all / rounds;
        if (bytes) busiest = std::max(busiest.value_or(0), *bytes);
    }
    return busiest;
}

/// Figures that follow from plain counters, for those that the summary does not say itself.
void derive(const ordered_json& peers, RunFigures& figures) {
    if (!figures.train_seconds || *figures.train_seconds <= 0) return;
    const double seconds = *figures.train_seconds;
    std::vector<double> egress, paces;
    for (const ordered_json& peer : peers) {
        const std::optional<double> mbit = egress_mbit_of(peer, seconds);
        figures.egress_mbit_by_machine.push_back(mbit);
        if (mbit) egress.push_back(*mbit);
        if (const std::optional<double> pace = samples_per_s_of(peer)) paces.push_back(*pace);
    }
    if (const std::optional<Spread> spread = spread_of(paces)) {
        figures.samples_per_s_median = spread->median;
        figures.samples_per_s_slowest = spread->low;
        figures.samples_per_s_fastest = spread->high;
    }
    if (!egress.empty()) {
        figures.egress_mbit = mean(egress);
        figures.egress_mbit_busiest = *std::max_element(egress.begin(), egress.end());
    }
    const std::optional<double> samples = sum(of_peers(peers, "samples"));
    if (!figures.samples_per_s && samples) figures.samples_per_s = *samples / seconds;
    const std::optional<double>& rounds = figures.rounds;
    if (!rounds) return;
    figures.egress_bytes_per_round_busiest = busiest_bytes_per_round(peers, *rounds);
    const auto per_round = [&](const char* counter, std::optional<double>& figure) {
        const std::optional<double> bytes = mean(of_peers(peers, counter));
        if (!figure && bytes) figure = *bytes / *rounds;
    };
    per_round("egress_bytes", figures.egress_bytes_per_round);
    per_round("ingress_bytes", figures.ingress_bytes_per_round);
}

}  // namespace

RunFigures read_figures(const std::string& path) {
    RunFigures figures;
    const std::optional<ordered_json> json = read_json(path);
    if (!json || !json->is_object()) return figures;
    const auto found = json->find("peers");
    const ordered_json peers = found != json->end() ? *found : ordered_json::array();
    const auto mean_of = [&](const char* key) { return mean(of_peers(peers, key)); };
    const std::vector<double> seconds = of_peers(peers, "train_seconds");
    figures.train_seconds = seconds.empty()
                                ? number_at(*json, "seconds")
                                : std::optional(*std::max_element(seconds.begin(), seconds.end()));
    std::vector<double> rounds = of_peers(peers, "rounds");
    std::erase_if(rounds, [](double count) { return count <= 0; });  // servers make none
    figures.rounds = mean(rounds);
    figures.accuracy = number_at(*json, "accuracy");
    figures.samples_per_s = sum(of_peers(peers, "samples_per_s"));
    figures.compute_share = mean_of("compute_share");
    figures.cpu_ms_per_round = mean_of("cpu_ms_per_round");
    figures.gradient_ms = mean_of("gradient_ms.p50");
    figures.wait_ms = mean_of("wait_ms.p50");
    figures.egress_bytes_per_round = mean_of("egress_bytes_per_round");
    figures.ingress_bytes_per_round = mean_of("ingress_bytes_per_round");
    std::vector<double> partitions = of_peers(peers, "partitions");
    std::erase(partitions, 0);  // not known, as in modes that have none
    figures.partitions = mean(partitions);
    figures.staleness_rounds = mean_of("staleness_rounds");
    figures.round_ms_p10 = mean_of("round_ms.p10");
    figures.round_ms_p50 = mean_of("round_ms.p50");
    figures.round_ms_p90 = mean_of("round_ms.p90");
    figures.round_ms_p99 = mean_of("round_ms.p99");
    if (const auto limit = json->find("bottleneck"); limit != json->end() && limit->is_object())
        figures.bottleneck = limit->value("label", "");
    derive(peers, figures);
    return figures;
}

std::optional<CellResult> read_cell_result(const std::string& folder) try {
    const std::optional<ordered_json> json = read_json(folder + "/cell.json");
    if (!json) return std::nullopt;
    CellResult result;
    result.failed = json->at("failed");
    result.why = json->at("why");
    result.seconds = json->at("seconds");
    result.commit = json->at("commit");
    result.network = json->at("network");
    result.machine = json->at("machine");
    result.achievable_mbit = json->at("achievable_mbit").get<std::vector<double>>();
    result.figures = read_figures(folder + "/run/summary.json");
    result.curve = read_curve(folder + "/run/curve.json").value_or(AccuracyCurve{});
    return result;
} catch (const ordered_json::exception&) {
    return std::nullopt;
}

void write_cell_result(const std::string& folder, const Cell& cell, const CellResult& result) {
    const ordered_json json = {
        {"cell", cell.text()},       {"failed", result.failed},
        {"why", result.why},         {"seconds", result.seconds},
        {"commit", result.commit},   {"network", result.network},
        {"machine", result.machine}, {"achievable_mbit", result.achievable_mbit}};
    write_whole_file(folder + "/cell.json", json.dump(2) + "\n");
}

std::vector<double> CellResult::egress_shares() const {
    std::vector<double> shares;
    for (std::size_t k = 0; k < figures.egress_mbit_by_machine.size(); ++k) {
        const std::optional<double>& mbit = figures.egress_mbit_by_machine[k];
        if (mbit && k < achievable_mbit.size() && achievable_mbit[k] > 0)
            shares.push_back(*mbit / achievable_mbit[k]);
    }
    return shares;
}

double CellResult::round_seconds() const {
    // The last point of a curve is later than the last round, by the final exchange.
    if (!figures.train_seconds || !figures.rounds) return curve.round_seconds();
    return *figures.train_seconds / *figures.rounds;
}

const CellResult* ResultSet::find(const Cell& cell) const {
    const auto found = results_.find(cell.text());
    return found == results_.end() ? nullptr : &found->second.result;
}

}  // namespace ako
