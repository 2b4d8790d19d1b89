// See prediction_text.h.
#include "src/predict/prediction_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "src/results/json_number.h"
#include "src/results/number_text.h"

namespace ako {

namespace {

using Json = nlohmann::ordered_json;

constexpr double percent = 100;

std::set<std::size_t> machines_in(const Prediction& prediction) {
    std::set<std::size_t> found;
    for (const Predicted& cell : prediction.cells) found.insert(cell.machines);
    return found;
}

/// What to know of rows that are older than anybody has tried; else nothing.
std::string staleness_text(const Predicted& cell) {
    if (cell.step.partitions <= partitions_tried) return "";
    return fmt::format(
        "    with P = {:.0f}: trained with up to {:.0f}; by that it takes {:.1f} times as many "
        "rounds\n",
        cell.step.partitions, partitions_tried, staleness_factor(cell.step.partitions));
}

std::string name_with_machines(const Predicted& cell) {
    return cell.machines == 1 ? "one machine alone"
                              : fmt::format("{} machines, {}", cell.machines, cell.mode.name);
}

/// What links it takes, in words.
std::string shares_text(const std::vector<RateForShare>& rates) {
    std::vector<std::string> parts;
    for (const RateForShare& rate : rates)
        if (rate.mbit)
            parts.push_back(fmt::format("{:.0f} % with {:.3g}", percent * rate.share, *rate.mbit));
    return parts.empty()
               ? "    no links bring half of what its processors could\n"
               : fmt::format("    of what its processors bring alone: {} Mbit/s a machine\n",
                             fmt::join(parts, ", "));
}

std::string row_text(const Predicted& cell) {
    const StepAnswer& step = cell.step;
    return fmt::format(
        "  {:<8} {:<29} {:>8.1f} {:>7.1f} ..{:>7.1f} {:>8.1f} {:>7.1f} {:>7.1f} {:>8.2f} {:>7.0f} "
        "{:>9} {:>8.2f} {:>5.0f} % {:>6} {:>8}{}\n",
        cell.machines, cell.name(), step.round_s * ms, step.low_s * ms, step.high_s * ms,
        step.compute_s * ms, step.hidden_s() * ms, step.exposed_s * ms, step.bytes / mb,
        static_cast<double>(cell.memory_bytes) / mb,
        grouped(static_cast<std::uint64_t>(std::llround(step.samples_per_s))), cell.speed_up,
        cell.efficiency * percent,
        step.partitions > 0 ? fmt::format("{:.1f}", step.partitions) : "",
        cell.target_s ? fmt::format("{:.1f}", *cell.target_s) : "", cell.extrapolated ? " *" : "");
}

Json json_of(const Predicted& cell) {
    const StepAnswer& step = cell.step;
    return {{"mode", cell.name()},
            {"set", cell.mode.overrides},
            {"machines", cell.machines},
            {"rate_mbit", cell.rate_mbit},
            {"batch", cell.batch},
            {"samples_of_peer", cell.own_batch},
            {"round_s", step.round_s},
            {"round_low_s", step.low_s},
            {"round_high_s", step.high_s},
            {"compute_s", step.compute_s},
            {"exchange_hidden_s", step.hidden_s()},
            {"exchange_exposed_s", step.exposed_s},
            {"naive_round_s", step.naive_s},
            {"bytes", step.bytes},
            {"partitions", step.partitions},
            {"memory_bytes", cell.memory_bytes},
            {"samples_per_s", step.samples_per_s},
            {"speed_up", cell.speed_up},
            {"efficiency", cell.efficiency},
            {"rounds_factor", or_null(cell.rounds_factor)},
            {"target_s", or_null(cell.target_s)},
            {"limit", step.limit},
            {"extrapolated", cell.extrapolated}};
}

}  // namespace

std::vector<TableOf> tables_of(const Prediction& prediction) {
    std::set<TableOf> found;
    for (const Predicted& cell : prediction.cells)
        if (cell.machines > 1) found.insert({cell.rate_mbit, cell.batch});
    if (found.empty())
        for (const Predicted& cell : prediction.cells) found.insert({0, cell.batch});
    return {found.begin(), found.end()};
}

std::vector<const Predicted*> cells_of(const Prediction& prediction, const TableOf& table) {
    std::vector<const Predicted*> found;
    for (const std::size_t machines : machines_in(prediction))
        for (const Predicted* cell : ranked(prediction, machines, table.rate_mbit, table.batch))
            found.push_back(cell);
    return found;
}

std::string rate_text(double mbit) {
    return mbit > 0 ? fmt::format("{:g} Mbit/s", mbit) : "links without a limit";
}

std::string choice_text(const std::vector<const Predicted*>& cells, Goal goal) {
    const Predicted& best = *cells.front();
    std::string text = name_with_machines(best);
    if (best.target_s)
        text += fmt::format(" reaches the target in {:.3g} to {:.3g} s",
                            *best.target_s * best.step.low_s / best.step.round_s,
                            *best.target_s * best.step.high_s / best.step.round_s);
    else
        text += fmt::format(", {} samples/s, {:.1f} times one alone",
                            grouped(static_cast<std::uint64_t>(best.step.samples_per_s)),
                            best.speed_up);
    // Of as many machines, or else of as many others.
    auto other = std::find_if(cells.begin() + 1, cells.end(), [&](const Predicted* cell) {
        return cell->machines == best.machines;
    });
    if (other == cells.end() && cells.size() > 1) other = cells.begin() + 1;
    if (other == cells.end()) return text;
    const double times = *price(**other, goal) / *price(best, goal);
    const std::string more = times < 2 ? fmt::format("{:.0f} % more", percent * (times - 1))
                                       : fmt::format("{:.1f} times as much", times);
    return text + fmt::format("; {} takes {} {}",
                              (*other)->machines == best.machines ? (*other)->mode.name
                                                                  : name_with_machines(**other),
                              more, goal == Goal::cost ? "of the machines' time" : "time");
}

std::string headline_text(const Prediction& prediction, Goal goal, const RatesOf& rates_of) {
    std::string text;
    for (const TableOf& setting : tables_of(prediction)) {
        const auto cells = choices(prediction, setting.rate_mbit, setting.batch, goal);
        if (cells.empty()) continue;
        const Predicted& best = *cells.front();
        text += fmt::format("{}, {} samples: {}\n", rate_text(setting.rate_mbit), setting.batch,
                            choice_text(cells, goal));
        text += staleness_text(best);
        if (best.machines == 1) continue;
        text += "    --set " + fmt::format("{}", fmt::join(best.mode.overrides, " --set ")) + "\n";
        if (rates_of) text += shares_text(rates_of(best));
    }
    return text;
}

std::string tables_text(const Prediction& prediction) {
    std::string text;
    bool beyond = false;
    for (const TableOf& setting : tables_of(prediction)) {
        text += fmt::format("\n{}, {} samples a round of {}\n", rate_text(setting.rate_mbit),
                            setting.batch, prediction.divided ? "all peers together" : "each peer");
        text += fmt::format(
            "  {:<8} {:<29} {:>8} {:>17} {:>8} {:>7} {:>7} {:>8} {:>7} {:>9} {:>8} {:>7} {:>6} "
            "{:>8}\n",
            "machines", "mode", "round ms", "4 of 5 times", "compute", "hidden", "waits", "MB sent",
            "MB mem", "samples/s", "speed-up", "effic.", "P", "target s");
        for (const Predicted* cell : cells_of(prediction, setting)) {
            text += row_text(*cell);
            beyond = beyond || cell->extrapolated;
        }
    }
    if (beyond) text += "  *: a batch beyond those that were measured\n";
    for (const LeftOut& one : prediction.left_out)
        text += fmt::format("  left out: {}: {}\n", one.mode, one.why);
    return text;
}

std::string peaks_text(const Prediction& prediction) {
    std::string text;
    for (const TableOf& setting : tables_of(prediction)) {
        std::set<std::string> told;
        for (const Predicted& cell : prediction.cells) {
            if (cell.machines == 1 || !cell.is_in(setting.rate_mbit, setting.batch)) continue;
            const std::string& name = cell.mode.kind();
            const auto peak = peak_of(prediction, name, setting.rate_mbit, setting.batch);
            if (!peak || !told.insert(name).second) continue;
            const Predicted& best = *peak->cell;
            text += fmt::format("  {:<29} {:>4} at {}: {:.2f} times one alone{}\n", name,
                                best.machines, rate_text(setting.rate_mbit), best.speed_up,
                                best.machines == 1 ? ": more machines make it slower"
                                : peak->inside ? fmt::format(", limited by {}; more make it slower",
                                                             best.step.limit)
                                               : ", and more may bring more");
        }
    }
    return text.empty() ? text
                        : "\nmachines at which a mode makes the most samples per second\n" + text;
}

Json prediction_json(const Prediction& prediction, const Grounds& grounds) {
    Json cells = Json::array(), left_out = Json::array();
    for (const Predicted& cell : prediction.cells) cells.push_back(json_of(cell));
    for (const LeftOut& one : prediction.left_out)
        left_out.push_back({{"mode", one.mode}, {"why", one.why}});
    return Json{{"grounds", grounds}, {"cells", cells}, {"left_out", left_out}};
}

}  // namespace ako
