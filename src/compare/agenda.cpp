#include "src/compare/agenda.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ako {

namespace {

/// For runs that measure the time of a round alone, which does not depend on it: a short run has
/// hardly any warm-up, and the rate that suits a whole one may diverge there.
constexpr double timing_learning_rate = 0.001;

std::vector<Screening> screenings_now(const Plan& plan, const ResultSet& results,
                                      bool out_of_time) {
    std::vector<Screening> all;
    for (const Setting& setting : settings_of(plan)) {
        for (const Contender& contender : plan.modes)
            all.push_back(screen(plan, contender, setting, results, out_of_time));
    }
    return all;
}

/// The next cell of the contender that has come least far, so that all have come equally far if
/// time ends the screening.
const Cell* next_screening_cell(const std::vector<Screening>& all) {
    const Screening* behind = nullptr;
    for (const Screening& screening : all) {
        if (screening.decided()) continue;
        if (behind == nullptr || screening.progress() < behind->progress()) behind = &screening;
    }
    return behind == nullptr ? nullptr : &behind->next.front();
}

bool time_is_over(const Plan& plan, const ResultSet& results, const std::vector<Screening>& all,
                  const Cell& next) {
    // By its own cells alone: once the comparison proper runs, nothing may reopen the screening.
    double seconds = expected_seconds(results, next, true);
    for (const Screening& screening : all) {
        // The cells of one machine alone are the same beside 2 machines and beside 4.
        const bool counted = screening.contender == alone_name &&
                             screening.setting.machines != plan.machines.front();
        if (!counted) seconds += screening.seconds;
    }
    return seconds > plan.screening->minutes_max * 60;
}

/// All cells of the comparison proper: whole seeds first, so that an early look at the report
/// shows all contenders; within a seed by rate, for each rate is a network of its own.
std::vector<Cell> comparison_cells(const Plan& plan, const std::vector<Screening>& all) {
    std::vector<Cell> cells;
    for (const Screening& screening : all) {
        for (const Candidate& candidate : screening.finalists) {
            for (const Cell& cell : headline_cells(plan, candidate, screening.setting))
                cells.push_back(cell);
        }
    }
    const auto place = [](const auto& list, const auto& value) {
        return std::find(list.begin(), list.end(), value) - list.begin();
    };
    const std::vector<Setting> settings = settings_of(plan);
    std::stable_sort(cells.begin(), cells.end(), [&](const Cell& left, const Cell& right) {
        const auto key = [&](const Cell& cell) {
            return std::tuple(place(plan.seeds, cell.seed), place(settings, cell.setting),
                              place(plan.rates, cell.rate));
        };
        return key(left) < key(right);
    });
    return cells;
}

}  // namespace

std::vector<Screening> screenings(const Plan& plan, const ResultSet& results) {
    std::vector<Screening> all = screenings_now(plan, results, false);
    const Cell* next = next_screening_cell(all);
    if (next != nullptr && time_is_over(plan, results, all, *next))
        return screenings_now(plan, results, true);
    return all;
}

Rate fastest_rate(const Plan& plan) {
    return *std::max_element(
        plan.rates.begin(), plan.rates.end(),
        [](const Rate& left, const Rate& right) { return left.lowest() < right.lowest(); });
}

Rate check_rate(const Plan& plan) {
    std::vector<Rate> others = plan.rates;
    std::erase(others, fastest_rate(plan));
    const bool screened = plan.screening && std::find(others.begin(), others.end(),
                                                      plan.screening->rate) != others.end();
    return screened ? plan.screening->rate : others[others.size() / 2];
}

bool is_composed(const Plan& plan, const Candidate& candidate) {
    return plan.composition && !plan.loss && candidate.synchronous() && plan.rates.size() > 1;
}

std::optional<Cell> composed_local_sgd(const Plan& plan) {
    const Setting setting = settings_of(plan).front();
    for (const Contender& contender : plan.modes) {
        if (mode_named(contender.mode).every_round) continue;
        const Candidate candidate = candidates_of(plan, contender, setting).front();
        if (is_composed(plan, candidate))
            return full_cell(plan, candidate, setting, plan.rates.front(), plan.seeds.front());
    }
    return std::nullopt;
}

Cell full_cell(const Plan& plan, const Candidate& candidate, const Setting& setting,
               const Rate& rate, std::uint64_t seed) {
    return {candidate,
            setting_of(candidate, setting),
            rate_of(candidate, rate),
            seed,
            plan.epochs,
            plan.evaluate_every,
            Cell::Part::headline,
            candidate.alone() ? std::nullopt : plan.loss};
}

double timing_epochs(const Plan& plan, const Candidate& candidate, const Setting& setting) {
    const double asked = plan.composition->epochs;
    if (mode_named(candidate.mode).every_round || !plan.training_samples) return asked;
    const auto samples = static_cast<double>(*plan.training_samples);
    const auto samples_per_round = static_cast<double>(setting.machines * setting.batch_per_peer);
    const double period =
        number_of(plan, candidate.variant, "exchange.local_rounds", plan.defaults.local_rounds);
    const double rounds = std::ceil(std::round(asked * samples) / samples_per_round);
    const double averagings = std::max(1.0, std::ceil((rounds - 1) / period));
    const double epochs = (averagings * period + 1) * samples_per_round / samples;
    return std::min(epochs, std::max(asked, plan.epochs));
}

Cell timing_cell(const Plan& plan, const Candidate& candidate, const Setting& setting,
                 const Rate& rate) {
    Cell cell{candidate,
              setting,
              rate,
              plan.seeds.front(),
              timing_epochs(plan, candidate, setting),
              0,
              Cell::Part::timing};
    cell.candidate.learning_rate = timing_learning_rate;
    return cell;
}

std::vector<Cell> headline_cells(const Plan& plan, const Candidate& candidate,
                                 const Setting& setting) {
    std::vector<Cell> cells;
    if (candidate.alone()) {  // once for all rates
        for (const std::uint64_t seed : plan.seeds)
            cells.push_back(full_cell(plan, candidate, setting, plan.rates.front(), seed));
        return cells;
    }
    if (!is_composed(plan, candidate)) {
        for (const std::uint64_t seed : plan.seeds) {
            for (const Rate& rate : plan.rates)
                cells.push_back(full_cell(plan, candidate, setting, rate, seed));
        }
        return cells;
    }
    const Rate fastest = fastest_rate(plan);
    for (const std::uint64_t seed : plan.seeds)
        cells.push_back(full_cell(plan, candidate, setting, fastest, seed));
    for (const Rate& rate : plan.rates) {
        if (rate == fastest) continue;
        cells.push_back(timing_cell(plan, candidate, setting, rate));
    }
    cells.push_back(full_cell(plan, candidate, setting, check_rate(plan), plan.seeds.front()));
    return cells;
}

std::vector<Cell> open_cells(const Plan& plan, const ResultSet& results) {
    const std::vector<Screening> all = screenings(plan, results);
    std::vector<Cell> cells;
    for (const Screening& screening : all)
        cells.insert(cells.end(), screening.next.begin(), screening.next.end());
    for (const Cell& cell : comparison_cells(plan, all)) {
        if (results.find(cell) == nullptr) cells.push_back(cell);
    }
    return cells;
}

std::optional<Cell> next_cell(const Plan& plan, const ResultSet& results) {
    const std::vector<Screening> all = screenings(plan, results);
    if (const Cell* next = next_screening_cell(all)) return *next;
    for (const Cell& cell : comparison_cells(plan, all)) {
        if (results.find(cell) == nullptr) return cell;
    }
    return std::nullopt;
}

double expected_seconds(const ResultSet& results, const Cell& cell, bool only_screening) {
    double like_epochs = 0, like_seconds = 0, epochs = 0, seconds = 0;
    for (const auto& [text, done] : results.all()) {
        if (done.result.failed) continue;
        if (only_screening && done.cell.part != Cell::Part::screening) continue;
        epochs += done.cell.epochs;
        seconds += done.result.seconds;
        const bool alike = done.cell.candidate.contender == cell.candidate.contender &&
                           done.cell.rate == cell.rate && done.cell.setting == cell.setting;
        if (!alike) continue;
        like_epochs += done.cell.epochs;
        like_seconds += done.result.seconds;
    }
    if (like_epochs > 0) return cell.epochs * like_seconds / like_epochs;
    return epochs > 0 ? cell.epochs * seconds / epochs : 0;
}

Forecast forecast(const Plan& plan, const ResultSet& results) {
    Forecast left;
    left.known = !results.all().empty();
    ResultSet imagined = results;
    while (const std::optional<Cell> cell = next_cell(plan, imagined)) {
        CellResult result;
        result.seconds = expected_seconds(results, *cell);
        left.cells += 1;
        left.seconds += result.seconds;
        imagined.put(*cell, result);
    }
    return left;
}

}  // namespace ako
