#include "src/compare/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ako {

namespace {

std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
    return quoted + "\"";
}
std::string field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string field(const std::optional<double>& value) { return value ? field(*value) : ""; }

template <class... Fields>
std::string row(const Fields&... fields) {
    std::string text;
    ((text += (text.empty() ? "" : ",") + field(fields)), ...);
    return text + "\r\n";
}

// A row begins with a text that is never empty, so row() puts its commas right.
std::string place_of(const Outcome& outcome) {
    std::string text =
        row(outcome.candidate.contender, outcome.candidate.mode,
            variant_text(outcome.candidate.variant), outcome.candidate.learning_rate,
            static_cast<double>(outcome.candidate.alone() ? 1 : outcome.setting.machines),
            static_cast<double>(outcome.setting.batch_per_peer), outcome.rate.short_text(),
            std::string(outcome.best ? "yes" : "no"), std::string(outcome.composed ? "yes" : "no"));
    text.resize(text.size() - 2);
    return text;
}

constexpr const char* place_head =
    "contender,mode,variant,learning_rate,machines,batch_per_peer,rate_mbit,best,composed";

std::string tail(const std::vector<std::string>& fields) {
    std::string text;
    for (const std::string& one : fields) text += "," + one;
    return text + "\r\n";
}

}  // namespace

std::string targets_csv(const Plan& plan, const std::vector<Outcome>& outcomes) {
    std::string text = std::string(place_head) +
                       ",target_accuracy,seeds,reached,seconds_median,seconds_low,seconds_high,"
                       "rounds_median";
    for (const std::string& name : plan.baselines) text += "," + field("ratio_to_" + name);
    text += ",speed_up,final_accuracy_median,accuracy_lost\r\n";
    for (const Outcome& outcome : outcomes) {
        for (std::size_t k = 0; k < outcome.targets.size(); ++k) {
            const TargetReach& reach = outcome.targets[k];
            const auto of = [](const std::optional<Spread>& spread, double Spread::*which) {
                return spread ? field((*spread).*which) : std::string();
            };
            std::vector<std::string> fields = {field(reach.target),
                                               fmt::to_string(reach.count),
                                               fmt::to_string(reach.reached),
                                               of(reach.seconds, &Spread::median),
                                               of(reach.seconds, &Spread::low),
                                               of(reach.seconds, &Spread::high),
                                               of(reach.rounds, &Spread::median)};
            for (const std::string& name : plan.baselines)
                fields.push_back(
                    field(ratio_to(baseline_of(outcomes, name, outcome, k), outcome, k)));
            fields.push_back(field(speed_up(outcomes, outcome, k)));
            fields.push_back(of(outcome.final_accuracy, &Spread::median));
            fields.push_back(field(accuracy_lost(outcomes, outcome)));
            text += place_of(outcome) + tail(fields);
        }
    }
    return text;
}

std::string figures_csv(const std::vector<Outcome>& outcomes) {
    const std::vector<std::pair<const char*, std::optional<double> RunFigures::*>> columns = {
        {"samples_per_s", &RunFigures::samples_per_s},
        {"samples_per_s_median_peer", &RunFigures::samples_per_s_median},
        {"samples_per_s_slowest_peer", &RunFigures::samples_per_s_slowest},
        {"samples_per_s_fastest_peer", &RunFigures::samples_per_s_fastest},
        {"compute_share", &RunFigures::compute_share},
        {"gradient_ms", &RunFigures::gradient_ms},
        {"wait_ms", &RunFigures::wait_ms},
        {"cpu_ms_per_round", &RunFigures::cpu_ms_per_round},
        {"egress_bytes_per_round", &RunFigures::egress_bytes_per_round},
        {"egress_bytes_per_round_busiest", &RunFigures::egress_bytes_per_round_busiest},
        {"ingress_bytes_per_round", &RunFigures::ingress_bytes_per_round},
        {"egress_mbit", &RunFigures::egress_mbit},
        {"egress_mbit_busiest", &RunFigures::egress_mbit_busiest},
        {"partitions", &RunFigures::partitions},
        {"staleness_rounds", &RunFigures::staleness_rounds},
        {"round_ms_p10", &RunFigures::round_ms_p10},
        {"round_ms_p50", &RunFigures::round_ms_p50},
        {"round_ms_p90", &RunFigures::round_ms_p90},
        {"round_ms_p99", &RunFigures::round_ms_p99}};
    std::string text = place_head;
    for (const auto& [name, which] : columns) text += fmt::format(",{}", name);
    text += ",egress_share,egress_share_busiest,accuracy,bottleneck\r\n";
    for (const Outcome& outcome : outcomes) {
        std::vector<std::string> fields;
        fields.reserve(columns.size() + 4);
        for (const auto& [name, which] : columns) fields.push_back(field(outcome.figure(which)));
        fields.push_back(field(outcome.egress_share_mean()));
        fields.push_back(field(outcome.egress_share_busiest()));
        fields.push_back(outcome.accuracy ? field(outcome.accuracy->median) : "");
        fields.push_back(field(outcome.bottleneck()));
        text += place_of(outcome) + tail(fields);
    }
    return text;
}

std::string curves_csv(const std::vector<Outcome>& outcomes) {
    std::string text =
        std::string(place_head) + ",seed,seconds,round,samples,progress,accuracy,loss\r\n";
    for (const Outcome& outcome : outcomes) {
        for (const SeedCurve& seed : outcome.seeds) {
            for (const RunPoint& point : seed.curve.points)
                text += place_of(outcome) +
                        tail({fmt::to_string(seed.seed), field(point.seconds), field(point.round),
                              field(point.samples), field(point.progress), field(point.accuracy),
                              field(point.loss)});
        }
    }
    return text;
}

std::string cells_csv(const ResultSet& results) {
    std::string text =
        "contender,mode,variant,learning_rate,machines,batch_per_peer,rate_mbit,seed,epochs,part,"
        "failed,why,seconds,best_accuracy,achievable_mbit,commit,machine\r\n";
    for (const auto& [key, done] : results.all()) {
        const Cell& cell = done.cell;
        const CellResult& result = done.result;
        const char* part = cell.part == Cell::Part::screening ? "screening"
                           : cell.part == Cell::Part::timing  ? "timing"
                                                              : "headline";
        text +=
            row(cell.candidate.contender, cell.candidate.mode, variant_text(cell.candidate.variant),
                cell.candidate.learning_rate, static_cast<double>(cell.setting.machines),
                static_cast<double>(cell.setting.batch_per_peer), cell.rate.short_text(),
                static_cast<double>(cell.seed), cell.epochs, std::string(part),
                std::string(result.failed ? "yes" : "no"), result.why, result.seconds,
                result.curve.best_accuracy(), mean(result.achievable_mbit), result.commit,
                result.machine);
    }
    return text;
}

}  // namespace ako
