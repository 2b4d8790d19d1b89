#include "src/compare/screening.h"

#include <algorithm>

#include "src/compare/ranking.h"

namespace ako {

namespace {

/// Points of a screening's curve at least, for the accuracy at a given moment.
constexpr double curve_points_min = 8;

Cell screening_cell(const Plan& plan, const Candidate& candidate, const Setting& setting,
                    double epochs) {
    Cell cell;
    cell.candidate = candidate;
    cell.setting = setting_of(candidate, setting);
    cell.rate = rate_of(candidate, plan.screening->rate);
    cell.seed = plan.seeds.front();
    cell.epochs = epochs;
    cell.evaluate_every = std::min(plan.evaluate_every, epochs / curve_points_min);
    cell.part = Cell::Part::screening;
    return cell;
}

/// The rows of these places, best first; those that have not run this rung come last.
std::vector<std::size_t> ranked(const std::vector<ScreeningRow>& rows,
                                const std::vector<std::size_t>& places, std::size_t rung,
                                const std::vector<double>& targets) {
    std::vector<SeedCurves> curves;
    for (const std::size_t place : places) {
        const ScreeningRow& row = rows[place];
        const bool ran = row.rungs == rung && row.result != nullptr && !row.result->failed;
        curves.push_back({ran ? row.result->curve : AccuracyCurve{}});
    }
    std::vector<std::size_t> order;
    for (const std::size_t k : ranking(curves, targets)) order.push_back(places[k]);
    return order;
}

/// The first `count` of these places over all targets, best first, then those that are among the
/// first `count` for one target: the first to the lower one need not be the first to the higher.
std::vector<std::size_t> better_ones(const std::vector<ScreeningRow>& rows,
                                     const std::vector<std::size_t>& places, std::size_t rung,
                                     const std::vector<double>& targets, std::size_t count) {
    const auto first = [&](const std::vector<double>& by) {
        std::vector<std::size_t> order = ranked(rows, places, rung, by);
        order.resize(std::min(count, order.size()));
        return order;
    };
    std::vector<std::size_t> kept = first(targets);
    for (const double target : targets) {
        for (const std::size_t place : first({target})) {
            if (std::find(kept.begin(), kept.end(), place) == kept.end()) kept.push_back(place);
        }
    }
    return kept;
}

void decide(Screening& screening, const std::vector<std::size_t>& chosen) {
    screening.next.clear();
    for (const std::size_t place : chosen) {
        ScreeningRow& row = screening.rows[place];
        row.finalist = true;
        screening.finalists.push_back(row.candidate);
    }
}

}  // namespace

double Screening::progress() const {
    std::size_t sum = 0;
    for (const ScreeningRow& row : rows) sum += row.rungs;
    return rows.empty() ? 0 : static_cast<double>(sum) / static_cast<double>(rows.size());
}

Screening screen(const Plan& plan, const Contender& contender, const Setting& setting,
                 const ResultSet& results, bool out_of_time) {
    Screening screening;
    screening.setting = setting;
    screening.contender = contender.name;
    std::vector<std::size_t> left;
    for (const Candidate& candidate : candidates_of(plan, contender, setting)) {
        left.push_back(screening.rows.size());
        screening.rows.push_back({.candidate = candidate});
    }
    const std::size_t finalists = plan.screening ? plan.screening->finalists : left.size();
    double epochs = plan.screening ? plan.screening->epochs : 0;
    for (std::size_t rung = 1; left.size() > finalists; ++rung, epochs *= 2) {
        // What is left after a rung of the full length is not halved any further.
        const bool last = epochs >= plan.epochs;
        for (const std::size_t place : left) {
            ScreeningRow& row = screening.rows[place];
            const Cell cell =
                screening_cell(plan, row.candidate, setting, std::min(epochs, plan.epochs));
            const CellResult* result = results.find(cell);
            if (result == nullptr) {
                screening.next.push_back(cell);
                continue;
            }
            row.rungs = rung;
            row.epochs = cell.epochs;
            row.result = result;
            screening.seconds += result->seconds;
        }
        if (!screening.next.empty() && !out_of_time) return screening;
        const auto better = [&](std::size_t count) {
            return better_ones(screening.rows, left, rung, plan.target_accuracy, count);
        };
        if (!screening.next.empty()) {
            // A rung that is not whole decides only if it is the first: else those who happened to
            // run would win over those who did not. `left` is in the order of the rung before.
            screening.cut_off = true;
            if (rung == 1)
                left = better(finalists);
            else
                left.resize(std::min(left.size(), finalists));
            break;
        }
        left = better(last ? finalists : std::max(finalists, (left.size() + 1) / 2));
        if (last) break;
    }
    decide(screening, left);
    return screening;
}

}  // namespace ako
