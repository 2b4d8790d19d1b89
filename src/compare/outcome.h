// The outcome: what the cells of the comparison proper say of one finalist at one rate, measured
// or, for synchronous modes, composed of rounds and round time. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/compare/agenda.h"
#include "src/compare/ranking.h"

namespace ako {

struct SeedCurve {
    std::uint64_t seed = 0;
    AccuracyCurve curve;  ///< empty: it failed
};

struct Outcome {
    Candidate candidate;
    Setting setting;
    Rate rate;
    bool best = false;           ///< of this contender's finalists, here
    std::vector<bool> best_for;  ///< the same for each of the plan's targets by itself
    /// Its times are rounds of another rate times the round time of this one.
    bool composed = false;
    std::vector<SeedCurve> seeds;
    std::vector<TargetReach> targets;         ///< one for each of the plan's
    std::optional<Spread> accuracy;           ///< the highest of each seed
    std::optional<Spread> final_accuracy;     ///< what each seed ended with
    std::vector<const CellResult*> measured;  ///< runs at this very rate, failed ones too

    /// The median of one figure over the measured runs.
    std::optional<double> figure(std::optional<double> RunFigures::*which) const;
    /// What a machine sent / what it could have: the mean, and of the machine that is nearest to
    /// its own limit. Medians over the measured runs.
    std::optional<double> egress_share_mean() const;
    std::optional<double> egress_share_busiest() const;
    SeedCurves curves() const;
    /// What limited most of the measured runs; empty: not known.
    std::string bottleneck() const;
};

/// Marks a time that was composed; what that means stands at the end of the conclusion.
inline constexpr const char* composed_mark = " *";
inline std::string mark_of(const Outcome& outcome) { return outcome.composed ? composed_mark : ""; }

/// A full run at another rate than those of which a composed figure is made, beside that figure.
struct CompositionCheck {
    Candidate candidate;
    Setting setting;
    Rate rate;
    double target = 0;
    double composed_seconds = 0;
    double measured_seconds = 0;
};

/// A cell that failed.
struct FailedCell {
    Cell cell;
    std::string why;
};

/// The outcomes of all finalists, settings and rates that have been run, in the plan's order.
std::vector<Outcome> outcomes_of(const Plan& plan, const ResultSet& results);
std::vector<CompositionCheck> composition_checks(const Plan& plan, const ResultSet& results);
std::vector<FailedCell> failed_cells(const ResultSet& results);

/// The best outcome of each contender at one place, in the plan's order: for one target by itself,
/// or, without one, over all targets.
std::vector<const Outcome*> best_at(const std::vector<Outcome>& outcomes, const Setting& setting,
                                    const Rate& rate,
                                    std::optional<std::size_t> target_index = std::nullopt);

/// The best of a baseline (a contender's name or a mode) for a target here; nullptr: there is none.
const Outcome* baseline_of(const std::vector<Outcome>& outcomes, const std::string& baseline,
                           const Outcome& here, std::size_t target_index);
/// How many times as long as the baseline this one takes to the target; nullopt if one of them
/// never reaches it.
std::optional<double> ratio_to(const Outcome* baseline, const Outcome& outcome,
                               std::size_t target_index);

/// One machine alone in this setting; its times are the same at every rate. nullptr if it has not
/// been run, or is not in the plan.
const Outcome* alone_of(const std::vector<Outcome>& outcomes, const Outcome& here,
                        std::size_t target_index);
/// How many times as fast as one machine alone; nullopt if one of the two never reaches the target.
std::optional<double> speed_up(const std::vector<Outcome>& outcomes, const Outcome& outcome,
                               std::size_t target_index);
/// The outcome with the highest final accuracy (the median) here; nullptr: nobody has one.
const Outcome* most_accurate(const std::vector<Outcome>& outcomes, const Outcome& here);
/// The best final accuracy of all contenders in this setting at this rate less the own, 0 .. 1.
std::optional<double> accuracy_lost(const std::vector<Outcome>& outcomes, const Outcome& outcome);

}  // namespace ako
