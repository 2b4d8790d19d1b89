// What a peer leaves as its result, out of how its training ended and what was counted meanwhile.
// Functions; compute thread.
#pragma once

#include "src/config/cluster_settings.h"
#include "src/results/metrics.h"
#include "src/results/peer_result.h"
#include "src/training/run_driver.h"

namespace ako {

/// `item_count`: samples of the training set; `chance`: as chance_accuracy says.
PeerResult make_result(const Settings& settings, PeerIndex self, const TrainingOutcome& outcome,
                       Metrics& metrics, std::uint64_t item_count, std::optional<double> chance);

/// What to do about numbers that a run ended for, of this peer or of another; else empty.
std::string numbers_remedy(const Settings& settings, const TrainingOutcome& outcome);

/// One line for people, or some; without a final exchange, why it stopped.
void log_ending(const PeerResult& result, const std::function<void(const std::string&)>& log);

}  // namespace ako
