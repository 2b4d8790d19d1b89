// The tables of the report, as HTML. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "src/compare/outcome.h"

namespace ako {

/// A row per contender, a column per rate: the time to one target, and the speed-up over one
/// machine alone. The shortest stands out if no other range overlaps with its own.
std::string glance_table(const Plan& plan, const std::vector<Outcome>& outcomes,
                         const Setting& setting, std::size_t target_index);
/// Every contender at every rate with what it ran with, what it loses of the accuracy at the end,
/// its speed-up and its ratios to the baselines.
std::string target_table(const Plan& plan, const std::vector<Outcome>& outcomes,
                         const Setting& setting, std::size_t target_index);
/// Samples, bytes, shares, staleness and round times.
std::string figures_table(const Plan& plan, const std::vector<Outcome>& outcomes,
                          const Setting& setting);
/// Variants by learning rates: how far each came in the screening, and to what accuracy.
std::string screening_table(const Plan& plan, const Screening& screening);
std::string checks_table(const std::vector<CompositionCheck>& checks);
std::string failures_table(const std::vector<FailedCell>& failed);

}  // namespace ako
