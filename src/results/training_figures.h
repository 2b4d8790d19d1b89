// The figures of one peer's training, for result-<peer>.json and summary.json, where they stand
// beside its other keys, each null if the peer never trained or left no result:
//
//   train_seconds     from the beginning of the first round to the end of the last
//   round_ms          {p10, p50, p90, p99, max} of the rounds, without the first 5 of more than 20
//   gradient_ms       {p50} of them inside the network's gradient, without what it awaited
//   wait_ms           {p50} in begin_round, await and end_round together
//   compute_share     all gradients' time / all rounds' time, 0 .. 1
//   cpu_seconds       processor time of the peer's process, all threads, while it trained
//   cpu_ms_per_round  the same over the rounds
//   partitions        mean observed P of its links at the end of the training; 0: not known
//   staleness_rounds  median over the seconds of the largest staleness
//   samples_per_s     of this peer over train_seconds
//   egress_bytes_per_round, ingress_bytes_per_round
//                     wire bytes while it trained: neither handshakes nor the final exchange
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace ako {

struct TrainingFigures {
    double train_seconds = 0;
    struct {
        double p10 = 0;
        double p50 = 0;
        double p90 = 0;
        double p99 = 0;
        double max = 0;
    } round_ms;
    double gradient_ms_p50 = 0;
    double wait_ms_p50 = 0;
    double compute_share = 0;
    double cpu_seconds = 0;
    double cpu_ms_per_round = 0;
    double partitions = 0;
    double staleness_rounds = 0;
    double samples_per_s = 0;
    double egress_bytes_per_round = 0;
    double ingress_bytes_per_round = 0;
};

/// Adds the keys to the object `json`.
void add_figures(nlohmann::ordered_json& json, const std::optional<TrainingFigures>& figures);
/// From such an object. Throws nlohmann::json::exception if keys are missing.
std::optional<TrainingFigures> figures_from(const nlohmann::ordered_json& json);

}  // namespace ako
