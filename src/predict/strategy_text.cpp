// See strategy_text.h.
#include "src/predict/strategy_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "src/predict/prediction_text.h"

namespace ako {

namespace {

const char* label_of(const StrategyFinding& finding) {
    return finding.limitation ? "limitation" : "bottleneck";
}

std::string title_of(const StrategyAnswer& answer) {
    const bool hybrid =
        answer.strategy == Strategy::data_filter || answer.strategy == Strategy::data_spatial;
    return hybrid ? fmt::format("{}, groups of {}", word(answer.strategy), answer.group)
                  : word(answer.strategy);
}

FindingKind kind_of_passes(Strategy strategy) {
    const bool by_channels = strategy == Strategy::filter || strategy == Strategy::channel ||
                             strategy == Strategy::data_filter;
    return by_channels ? FindingKind::layer_wise_communication : FindingKind::point_to_point;
}

/// "gradient exchange 12.0, point to point 3.1": milliseconds.
std::string communication_text(const StrategyAnswer& answer) {
    const double passes = answer.forward_s + answer.backward_s;
    std::string text;
    if (answer.gradient_s > 0)
        text =
            fmt::format("{} {:.1f}", word(FindingKind::gradient_exchange), answer.gradient_s * ms);
    if (passes > 0)
        text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ",
                            word(kind_of_passes(answer.strategy)), passes * ms);
    return text;
}

std::string answer_text(const StrategyAnswer& answer) {
    std::string text = fmt::format(
        "  {:<27} {:<9} {:>9.1f} {:>9.1f} {:>7.1f} {:>9.1f} {:>8.2f} {:>7.1f} {:>6}  {}{}\n",
        title_of(answer), answer.projected ? "projected" : "", answer.step_s * ms,
        answer.compute_s * ms, answer.update_s * ms, answer.communication_s() * ms,
        answer.sent_bytes / mb, answer.memory_bytes / mb, answer.machines_max,
        communication_text(answer), answer.possible ? "" : "; not possible");
    for (const StrategyFinding& one : answer.findings)
        text += fmt::format("      {}, {}{}: {}\n", label_of(one), word(one.kind),
                            one.seconds > 0 ? fmt::format(", {:.1f} ms", one.seconds * ms) : "",
                            one.text);
    return text;
}

std::string table_text(const StrategyTable& table) {
    std::string text =
        fmt::format("\n{}, {} machines: a step of {} samples{}\n", rate_text(table.rate_mbit),
                    table.machines, table.samples(),
                    table.extrapolated ? ", of which one machine's times are extrapolated" : "");
    text += fmt::format("  {:<27} {:<9} {:>9} {:>9} {:>7} {:>9} {:>8} {:>7} {:>6}  {}\n",
                        "strategy", "", "step ms", "compute", "update", "exchange", "MB sent",
                        "MB mem", "p most", "exchange by kind, ms");
    for (const StrategyAnswer& answer : table.answers) text += answer_text(answer);
    return text;
}

nlohmann::ordered_json json_of(const StrategyAnswer& answer) {
    nlohmann::ordered_json findings = nlohmann::ordered_json::array();
    for (const StrategyFinding& one : answer.findings)
        findings.push_back({{"kind", word(one.kind)},
                            {"label", label_of(one)},
                            {"seconds", one.seconds},
                            {"text", one.text}});
    return {{"strategy", word(answer.strategy)},
            {"projected", answer.projected},
            {"possible", answer.possible},
            {"step_s", answer.step_s},
            {"compute_s", answer.compute_s},
            {"update_s", answer.update_s},
            {"communication_s", answer.communication_s()},
            {"forward_s", answer.forward_s},
            {"backward_s", answer.backward_s},
            {"gradient_s", answer.gradient_s},
            {"passes_kind", word(kind_of_passes(answer.strategy))},
            {"sent_bytes", answer.sent_bytes},
            {"memory_bytes", answer.memory_bytes},
            {"machines_max", answer.machines_max},
            {"machines_max_why", answer.machines_max_why},
            {"group", answer.group},
            {"stages", answer.stages},
            {"findings", findings}};
}

}  // namespace

std::string strategies_text(const StrategyPrediction& prediction) {
    std::string text = "\n";
    for (const std::string& note : prediction.notes) text += note + "\n";
    if (prediction.tables.empty())
        text += "no strategy divides the work of one machine: ask for more, as --machines 2,4\n";
    for (const StrategyTable& table : prediction.tables) text += table_text(table);
    return text;
}

nlohmann::ordered_json strategies_json(const StrategyPrediction& prediction) {
    nlohmann::ordered_json tables = nlohmann::ordered_json::array();
    for (const StrategyTable& table : prediction.tables) {
        nlohmann::ordered_json answers = nlohmann::ordered_json::array();
        for (const StrategyAnswer& answer : table.answers) answers.push_back(json_of(answer));
        tables.push_back({{"rate_mbit", table.rate_mbit},
                          {"batch", table.batch},
                          {"machines", table.machines},
                          {"samples", table.samples()},
                          {"extrapolated", table.extrapolated},
                          {"answers", answers}});
    }
    return {{"notes", prediction.notes}, {"layers", prediction.layers}, {"tables", tables}};
}

}  // namespace ako
