// A run beside what was predicted of it, where there is a profile of this machine for its network:
// so people see how far to trust `ako predict`. One thread.
#pragma once

#include <string>

#include "src/config/cluster_settings.h"
#include "src/predict/step_model.h"
#include "src/results/summary.h"

namespace ako {

/// A line for people, with a line break; empty without a profile, where nothing says what links
/// carry, and where too few rounds were made or evaluations lie between them. Adds the pair to
/// profiles/history.jsonl. Never throws: a run has not failed because nothing could be said of it.
std::string beside_prediction(const Settings& settings, const Summary& summary);

/// Rounds without evaluations between them, with one learner and one batch: what a prediction is
/// of.
bool has_one_kind_of_round(const Settings& settings);
/// "a round took 41.2 ms; predicted 40.1 (37.0 to 43.9)", with a line break.
std::string pair_text(const StepAnswer& predicted, double measured_s);
/// Into profiles/history.jsonl.
void keep_pair(const Settings& settings, const StepAnswer& predicted, double measured_s);

}  // namespace ako
