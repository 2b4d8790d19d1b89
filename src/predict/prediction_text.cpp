// See prediction_text.h.
#include "src/predict/prediction_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "src/predict/advice.h"
#include "src/results/json_number.h"
#include "src/results/number_text.h"

namespace ako {

namespace {

using Json = nlohmann::ordered_json;

constexpr double mb = 1e6;
constexpr double percent = 100;

std::set<std::size_t> machines_in(const Prediction& prediction) {
    std::set<std::size_t> found;
    for (const Predicted& cell : prediction.cells) found.insert(cell.machines);
    return found;
}

/// Less is better: seconds to the target, or of a sample.
double cost_of(const Predicted& cell) {
    return cell.target_s ? *cell.target_s : 1 / cell.step.samples_per_s;
}

/// What to know of rows that are older than anybody has tried; else nothing.
std::string staleness_text(const Predicted& cell) {
    if (cell.step.partitions <= partitions_tried) return "";
    return fmt::format(
        "    with P = {:.0f}: trained with up to {:.0f}; by that it takes {:.1f} times as many "
        "rounds\n",
        cell.step.partitions, partitions_tried, staleness_factor(cell.step.partitions));
}

/// The cells of a setting, those with a time to the target first, the best first.
std::vector<const Predicted*> at(const Prediction& prediction, const TableOf& setting) {
    std::vector<const Predicted*> found;
    for (const Predicted& cell : prediction.cells)
        if (cell.is_in(setting.rate_mbit, setting.batch)) found.push_back(&cell);
    const bool timed = std::any_of(found.begin(), found.end(), [](const Predicted* cell) {
        return cell->target_s.has_value();
    });
    if (timed) std::erase_if(found, [](const Predicted* cell) { return !cell->target_s; });
    std::stable_sort(found.begin(), found.end(), [](const Predicted* a, const Predicted* b) {
        return cost_of(*a) < cost_of(*b);
    });
    return found;
}

std::string row_text(const Predicted& cell) {
    const StepAnswer& step = cell.step;
    return fmt::format(
        "  {:<8} {:<29} {:>8.1f} {:>7.1f} ..{:>7.1f} {:>8.1f} {:>7.1f} {:>7.1f} {:>8.2f} {:>7.0f} "
        "{:>9} {:>8.2f} {:>5.0f} % {:>6} {:>8}{}\n",
        cell.machines, cell.name(), step.round_s * ms, step.low_s * ms, step.high_s * ms,
        step.compute_s * ms, step.hidden_s() * ms, step.exposed_s * ms, step.bytes / mb,
        static_cast<double>(cell.memory_bytes) / mb,
        grouped(static_cast<std::uint64_t>(step.samples_per_s + 0.5)), cell.speed_up,
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

std::string headline_text(const Prediction& prediction) {
    std::string text;
    for (const TableOf& setting : tables_of(prediction)) {
        std::vector<const Predicted*> cells = at(prediction, setting);
        if (cells.empty()) continue;
        const bool timed = cells.front()->target_s.has_value();
        const Predicted& best = *cells.front();
        text += fmt::format("{}, {} samples: {}", rate_text(setting.rate_mbit), setting.batch,
                            best.machines == 1
                                ? "one machine alone"
                                : fmt::format("{} machines, {}", best.machines, best.mode.name));
        text += timed ? fmt::format(" reaches the target in {:.3g} to {:.3g} s",
                                    *best.target_s * best.step.low_s / best.step.round_s,
                                    *best.target_s * best.step.high_s / best.step.round_s)
                      : fmt::format(", {} samples/s, {:.1f} times one alone",
                                    grouped(static_cast<std::uint64_t>(best.step.samples_per_s)),
                                    best.speed_up);
        const auto other = std::find_if(cells.begin(), cells.end(), [&](const Predicted* cell) {
            return cell->machines == best.machines && cell->mode.name != best.mode.name;
        });
        if (other != cells.end())
            text += fmt::format(
                "; {} {:.0f} % {}", (*other)->mode.name,
                percent * (timed ? *(*other)->target_s / *best.target_s - 1
                                 : 1 - (*other)->step.samples_per_s / best.step.samples_per_s),
                timed ? "longer" : "fewer");
        text += "\n" + staleness_text(best);
        if (best.machines > 1)
            text +=
                "    --set " + fmt::format("{}", fmt::join(best.mode.overrides, " --set ")) + "\n";
    }
    return text;
}

std::string tables_text(const Prediction& prediction) {
    std::string text;
    bool beyond = false;
    for (const TableOf& setting : tables_of(prediction)) {
        text += fmt::format("\n{}, {} samples a round of each peer\n", rate_text(setting.rate_mbit),
                            setting.batch);
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

std::string json_text(const Prediction& prediction, const Grounds& grounds) {
    Json cells = Json::array(), left_out = Json::array();
    for (const Predicted& cell : prediction.cells) cells.push_back(json_of(cell));
    for (const LeftOut& one : prediction.left_out)
        left_out.push_back({{"mode", one.mode}, {"why", one.why}});
    return Json{{"grounds", grounds}, {"cells", cells}, {"left_out", left_out}}.dump(1) + "\n";
}

}  // namespace ako
