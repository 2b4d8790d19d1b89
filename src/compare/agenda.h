// The agenda: which cell of a plan is run next, given what has been run. First the screening, then
// the comparison proper. Pure functions; any thread.
#pragma once

#include <optional>
#include <vector>

#include "src/compare/screening.h"

namespace ako {

/// The screenings of all contenders and settings as they stand. With a plan that has none, all
/// candidates are finalists.
std::vector<Screening> screenings(const Plan& plan, const ResultSet& results);

/// The cells of the comparison proper that a finalist takes: the full length for every seed at
/// every rate. One machine alone takes the full length for every seed once for all rates. A mode
/// that is composed takes the full length at the fastest rate for every seed, the round time at the
/// others, and the full length once more at check_rate().
std::vector<Cell> headline_cells(const Plan& plan, const Candidate& candidate,
                                 const Setting& setting);

/// The first setting and candidate of local SGD whose round time is measured apart; nullopt if
/// there is none. What its timing cells are depends on the size of the training set.
std::optional<Cell> composed_local_sgd(const Plan& plan);

/// Full runs at the fastest rate stand for all rates.
bool is_composed(const Plan& plan, const Candidate& candidate);
Rate fastest_rate(const Plan& plan);
/// Where one full run checks what was composed.
Rate check_rate(const Plan& plan);
Cell full_cell(const Plan& plan, const Candidate& candidate, const Setting& setting,
               const Rate& rate, std::uint64_t seed);
/// How long a timing cell is: as the plan says, but with local SGD at least so many rounds that
/// they are a whole number of averagings and the one round that waits for the last of them. With
/// fewer, averagings would be left out, or look free. As the plan says, too, if the size of the
/// training set is not known; and never longer than a whole run.
double timing_epochs(const Plan& plan, const Candidate& candidate, const Setting& setting);
Cell timing_cell(const Plan& plan, const Candidate& candidate, const Setting& setting,
                 const Rate& rate);

/// Cells whose turn does not depend on one another: those of the present rung of every screening,
/// and of the comparison proper of whoever has been screened.
std::vector<Cell> open_cells(const Plan& plan, const ResultSet& results);
/// The one of them that is run next: a screening's, of the contender that has come least far,
/// before any of the comparison proper. nullopt: all has been run.
std::optional<Cell> next_cell(const Plan& plan, const ResultSet& results);

/// How much is left, judged by what the cells so far took.
struct Forecast {
    std::size_t cells = 0;
    double seconds = 0;
    bool known = false;  ///< some cell has been run to judge by
};
Forecast forecast(const Plan& plan, const ResultSet& results);
/// What one cell will take, judged the same way; 0 if nothing has been run. `only_screening`:
/// judged by the screening's cells alone.
double expected_seconds(const ResultSet& results, const Cell& cell, bool only_screening = false);

}  // namespace ako
