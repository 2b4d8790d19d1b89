#include "src/compare/outcome.h"

#include <algorithm>
#include <map>

namespace ako {

namespace {

/// Full runs of every seed at this rate.
void add_measured(const Plan& plan, const ResultSet& results, Outcome& outcome) {
    for (const std::uint64_t seed : plan.seeds) {
        const CellResult* result =
            results.find(full_cell(plan, outcome.candidate, outcome.setting, outcome.rate, seed));
        if (result == nullptr) continue;
        outcome.measured.push_back(result);
        outcome.seeds.push_back({seed, result->failed ? AccuracyCurve{} : result->curve});
    }
}

/// The rounds of a full run at the fastest rate, with the time that a round takes where `timing`
/// was made; empty if one of them failed.
AccuracyCurve composed_curve(const CellResult& full, const CellResult& timing) {
    const double round_seconds = timing.round_seconds();
    if (full.failed || timing.failed || round_seconds <= 0) return {};
    return full.curve.with_round_seconds(round_seconds);
}

void add_composed(const Plan& plan, const ResultSet& results, Outcome& outcome) {
    const CellResult* timing =
        results.find(timing_cell(plan, outcome.candidate, outcome.setting, outcome.rate));
    if (timing == nullptr) return;
    outcome.composed = true;
    outcome.measured.push_back(timing);
    for (const std::uint64_t seed : plan.seeds) {
        const CellResult* full = results.find(
            full_cell(plan, outcome.candidate, outcome.setting, fastest_rate(plan), seed));
        if (full == nullptr) continue;
        outcome.seeds.push_back({seed, composed_curve(*full, *timing)});
    }
}

Outcome outcome_of(const Plan& plan, const ResultSet& results, const Candidate& candidate,
                   const Setting& setting, const Rate& rate) {
    Outcome outcome;
    outcome.candidate = candidate;
    outcome.setting = setting;
    outcome.rate = rate;
    if (is_composed(plan, candidate) && rate != fastest_rate(plan))
        add_composed(plan, results, outcome);
    else
        add_measured(plan, results, outcome);
    for (const double target : plan.target_accuracy)
        outcome.targets.push_back(target_reach(outcome.curves(), target));
    std::vector<double> highest, last;
    for (const SeedCurve& seed : outcome.seeds) {
        if (seed.curve.points.empty()) continue;
        highest.push_back(seed.curve.best_accuracy());
        last.push_back(seed.curve.points.back().accuracy);
    }
    outcome.accuracy = spread_of(highest);
    outcome.final_accuracy = spread_of(last);
    return outcome;
}

/// The median over runs that did not fail of what `value_of_run` gives, where it gives anything.
template <class Value>
std::optional<double> median_of(const std::vector<const CellResult*>& runs, Value value_of_run) {
    std::vector<double> values;
    for (const CellResult* result : runs) {
        if (result->failed) continue;
        if (const std::optional<double> value = value_of_run(*result)) values.push_back(*value);
    }
    const std::optional<Spread> spread = spread_of(values);
    return spread ? std::optional(spread->median) : std::nullopt;
}

/// Marks the best of one contender's outcomes from `first` on.
void mark_best(std::vector<Outcome>& outcomes, std::size_t first,
               const std::vector<double>& targets) {
    std::vector<SeedCurves> curves;
    for (std::size_t k = first; k < outcomes.size(); ++k) curves.push_back(outcomes[k].curves());
    if (curves.empty()) return;
    outcomes[first + ranking(curves, targets).front()].best = true;
    for (std::size_t target = 0; target < targets.size(); ++target) {
        const std::size_t best = ranking(curves, {targets[target]}).front();
        for (std::size_t k = 0; k < curves.size(); ++k)
            outcomes[first + k].best_for.push_back(k == best);
    }
}

}  // namespace

std::optional<double> Outcome::figure(std::optional<double> RunFigures::*which) const {
    return median_of(measured, [&](const CellResult& result) { return result.figures.*which; });
}

std::optional<double> Outcome::egress_share_mean() const {
    return median_of(measured,
                     [](const CellResult& result) { return mean(result.egress_shares()); });
}

std::optional<double> Outcome::egress_share_busiest() const {
    return median_of(measured, [](const CellResult& result) {
        const std::optional<Spread> shares = spread_of(result.egress_shares());
        return shares ? std::optional(shares->high) : std::nullopt;
    });
}

std::string Outcome::bottleneck() const {
    std::map<std::string, int> times;
    for (const CellResult* result : measured)
        if (!result->figures.bottleneck.empty()) ++times[result->figures.bottleneck];
    const auto most = std::max_element(
        times.begin(), times.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    return most == times.end() ? "" : most->first;
}

SeedCurves Outcome::curves() const {
    SeedCurves curves;
    for (const SeedCurve& seed : seeds) curves.push_back(seed.curve);
    return curves;
}

std::vector<Outcome> outcomes_of(const Plan& plan, const ResultSet& results) {
    std::vector<Outcome> outcomes;
    for (const Screening& screening : screenings(plan, results)) {
        for (const Rate& rate : plan.rates) {
            const std::size_t first = outcomes.size();
            for (const Candidate& candidate : screening.finalists) {
                Outcome outcome = outcome_of(plan, results, candidate, screening.setting, rate);
                if (!outcome.measured.empty()) outcomes.push_back(std::move(outcome));
            }
            mark_best(outcomes, first, plan.target_accuracy);
        }
    }
    return outcomes;
}

std::vector<CompositionCheck> composition_checks(const Plan& plan, const ResultSet& results) {
    std::vector<CompositionCheck> checks;
    for (const Screening& screening : screenings(plan, results)) {
        for (const Candidate& candidate : screening.finalists) {
            if (!is_composed(plan, candidate)) continue;
            const Rate rate = check_rate(plan);
            const Setting& setting = screening.setting;
            const std::uint64_t seed = plan.seeds.front();
            const CellResult* whole = results.find(full_cell(plan, candidate, setting, rate, seed));
            const CellResult* timing = results.find(timing_cell(plan, candidate, setting, rate));
            const CellResult* rounds =
                results.find(full_cell(plan, candidate, setting, fastest_rate(plan), seed));
            if (whole == nullptr || timing == nullptr || rounds == nullptr) continue;
            const AccuracyCurve composed = composed_curve(*rounds, *timing);
            for (const double target : plan.target_accuracy) {
                const std::optional<Reach> there = whole->curve.reach(target);
                const std::optional<Reach> thought = composed.reach(target);
                if (there && thought)
                    checks.push_back(
                        {candidate, setting, rate, target, thought->seconds, there->seconds});
            }
        }
    }
    return checks;
}

std::vector<FailedCell> failed_cells(const ResultSet& results) {
    std::vector<FailedCell> failed;
    for (const auto& [text, done] : results.all()) {
        if (done.result.failed) failed.push_back({done.cell, done.result.why});
    }
    return failed;
}

std::vector<const Outcome*> best_at(const std::vector<Outcome>& outcomes, const Setting& setting,
                                    const Rate& rate, std::optional<std::size_t> target_index) {
    std::vector<const Outcome*> found;
    for (const Outcome& outcome : outcomes) {
        const bool best = target_index ? outcome.best_for[*target_index] : outcome.best;
        if (best && outcome.setting == setting && outcome.rate == rate) found.push_back(&outcome);
    }
    return found;
}

const Outcome* baseline_of(const std::vector<Outcome>& outcomes, const std::string& baseline,
                           const Outcome& here, std::size_t target_index) {
    std::vector<const Outcome*> found = best_at(outcomes, here.setting, here.rate, target_index);
    std::erase_if(found, [&](const Outcome* outcome) {
        return outcome->candidate.contender != baseline && outcome->candidate.mode != baseline;
    });
    if (found.empty()) return nullptr;
    std::vector<SeedCurves> curves;
    curves.reserve(found.size());
    for (const Outcome* outcome : found) curves.push_back(outcome->curves());
    return found[ranking(curves, {here.targets[target_index].target}).front()];
}

std::optional<double> ratio_to(const Outcome* baseline, const Outcome& outcome,
                               std::size_t target_index) {
    if (baseline == nullptr) return std::nullopt;
    const std::optional<Spread>& theirs = baseline->targets[target_index].seconds;
    const std::optional<Spread>& ours = outcome.targets[target_index].seconds;
    if (!theirs || !ours || theirs->median <= 0) return std::nullopt;
    return ours->median / theirs->median;
}

const Outcome* alone_of(const std::vector<Outcome>& outcomes, const Outcome& here,
                        std::size_t target_index) {
    for (const Outcome* outcome : best_at(outcomes, here.setting, here.rate, target_index)) {
        if (outcome->candidate.alone()) return outcome;
    }
    return nullptr;
}

std::optional<double> speed_up(const std::vector<Outcome>& outcomes, const Outcome& outcome,
                               std::size_t target_index) {
    const std::optional<double> ratio =
        ratio_to(alone_of(outcomes, outcome, target_index), outcome, target_index);
    return ratio && *ratio > 0 ? std::optional(1 / *ratio) : std::nullopt;
}

const Outcome* most_accurate(const std::vector<Outcome>& outcomes, const Outcome& here) {
    const Outcome* best = nullptr;
    for (const Outcome* other : best_at(outcomes, here.setting, here.rate)) {
        if (!other->final_accuracy) continue;
        if (best == nullptr || other->final_accuracy->median > best->final_accuracy->median)
            best = other;
    }
    return best;
}

std::optional<double> accuracy_lost(const std::vector<Outcome>& outcomes, const Outcome& outcome) {
    if (!outcome.final_accuracy) return std::nullopt;
    const Outcome* best = most_accurate(outcomes, outcome);
    if (best == nullptr) return 0;
    return std::max(0.0, best->final_accuracy->median - outcome.final_accuracy->median);
}

}  // namespace ako
