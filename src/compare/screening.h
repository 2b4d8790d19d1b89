// The screening: successive halving over one contender's candidates (variants and learning rates),
// with one seed at one rate. All run a few epochs, the better half twice as many, and so on, until
// as many are left as the plan has finalists. It is a function of what has been run so far, so an
// interrupted screening goes on where it was. Any thread.
//
// K. Jamieson, A. Talwalkar: Non-stochastic Best Arm Identification and Hyperparameter
// Optimization. AISTATS 2016.
#pragma once

#include <string>
#include <vector>

#include "src/compare/cell_result.h"

namespace ako {

/// How far one candidate came.
struct ScreeningRow {
    Candidate candidate;
    std::size_t rungs = 0;               ///< that it has run
    double epochs = 0;                   ///< of the last of them
    const CellResult* result = nullptr;  ///< of the last of them; the ResultSet's
    bool finalist = false;
};

struct Screening {
    Setting setting;
    std::string contender;
    std::vector<Cell> next;  ///< cells of the present rung that have not been run; empty: decided
    std::vector<Candidate> finalists;  ///< once decided
    std::vector<ScreeningRow> rows;    ///< of all candidates
    double seconds = 0;                ///< spent so far
    bool cut_off = false;              ///< decided because the time was over

    bool decided() const { return next.empty(); }
    /// 0 .. 1 of the first rung, above it the rungs.
    double progress() const;
};

/// `out_of_time`: decide with what there is.
Screening screen(const Plan& plan, const Contender& contender, const Setting& setting,
                 const ResultSet& results, bool out_of_time);

}  // namespace ako
