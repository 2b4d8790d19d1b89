#include "src/compare/screening.h"

#include <algorithm>

#include "src/compare/standing.h"

namespace ako {

namespace {

/// Points of a screening's curve at least, for the accuracy at a given moment.
constexpr double points_min = 8;

Cell screening_cell(const Plan& plan, const Candidate& candidate, const Setting& setting,
                    double epochs) {
    Cell cell;
    cell.candidate = candidate;
    cell.setting = setting;
    cell.rate = plan.screening->rate;
    cell.seed = plan.seeds.front();
    cell.epochs = epochs;
    cell.evaluate_every = std::min(plan.evaluate_every, epochs / points_min);
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

void decide(Screening& screening, const std::vector<std::size_t>& order, std::size_t finalists) {
    screening.next.clear();
    for (std::size_t k = 0; k < std::min(finalists, order.size()); ++k) {
        ScreeningRow& row = screening.rows[order[k]];
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
        const std::vector<std::size_t> order =
            ranked(screening.rows, left, rung, plan.target_accuracy);
        if (!screening.next.empty()) {
            // A rung that is not whole decides only if it is the first: else those who happened to
            // run would win over those who did not. `left` is in the order of the rung before.
            screening.cut_off = true;
            decide(screening, rung == 1 ? order : left, finalists);
            return screening;
        }
        const std::size_t half = last ? finalists : std::max(finalists, (left.size() + 1) / 2);
        left.assign(order.begin(),
                    order.begin() + static_cast<std::ptrdiff_t>(std::min(half, order.size())));
    }
    decide(screening, left, finalists);
    return screening;
}

}  // namespace ako
