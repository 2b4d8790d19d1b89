#include "src/results/training_figures.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/results/renamed_key.h"

namespace ako {

namespace {

using nlohmann::ordered_json;

/// Four digits after the point: shares need them, and no clock gives more of a millisecond.
double ten_thousandths(double number) { return std::round(number * 1e4) / 1e4; }

}  // namespace

void add_figures(ordered_json& json, const std::optional<TrainingFigures>& figures) {
    const TrainingFigures from = figures.value_or(TrainingFigures{});
    const auto& round = from.round_ms;
    ordered_json keys = {
        {"train_seconds", ten_thousandths(from.train_seconds)},
        {"round_ms",
         {{"p10", ten_thousandths(round.p10)},
          {"p50", ten_thousandths(round.p50)},
          {"p90", ten_thousandths(round.p90)},
          {"p99", ten_thousandths(round.p99)},
          {"max", ten_thousandths(round.max)}}},
        {"gradient_ms", {{"p50", ten_thousandths(from.gradient_ms_p50)}}},
        {"wait_ms", {{"p50", ten_thousandths(from.wait_ms_p50)}}},
        {"compute_share", ten_thousandths(from.compute_share)},
        {"cpu_seconds", ten_thousandths(from.cpu_seconds)},
        {"cpu_ms_per_round", ten_thousandths(from.cpu_ms_per_round)},
        {"partitions", ten_thousandths(from.partitions)},
        {"staleness_rounds", from.staleness_rounds},
        {"samples_per_s", ten_thousandths(from.samples_per_s)},
        {"egress_bytes_per_round", ten_thousandths(from.egress_bytes_per_round)},
        {"ingress_bytes_per_round", ten_thousandths(from.ingress_bytes_per_round)}};
    for (const auto& [key, value] : keys.items()) json[key] = figures ? value : ordered_json();
}

std::optional<TrainingFigures> figures_from(const ordered_json& json) {
    if (json.at("train_seconds").is_null()) return std::nullopt;
    const ordered_json& round = json.at("round_ms");
    TrainingFigures figures;
    figures.train_seconds = json.at("train_seconds");
    figures.round_ms = {round.at("p10"), round.at("p50"), round.at("p90"), round.at("p99"),
                        round.at("max")};
    figures.gradient_ms_p50 = json.at("gradient_ms").at("p50");
    figures.wait_ms_p50 = json.at("wait_ms").at("p50");
    figures.compute_share = json.at("compute_share");
    figures.cpu_seconds = json.at("cpu_seconds");
    figures.cpu_ms_per_round = json.at("cpu_ms_per_round");
    figures.partitions = json.at("partitions");
    figures.staleness_rounds = json.at("staleness_rounds");
    figures.samples_per_s = json.at(key_in(json, "samples_per_s"));
    figures.egress_bytes_per_round = json.at("egress_bytes_per_round");
    figures.ingress_bytes_per_round = json.at("ingress_bytes_per_round");
    return figures;
}

}  // namespace ako
