// What a peer leaves as its result, out of how its training ended and what was counted meanwhile.
// Functions; compute thread.
#pragma once

#include "src/config/settings.h"
#include "src/results/metrics.h"
#include "src/results/peer_result.h"
#include "src/training/trainer.h"

namespace ako {

/// `item_count`: images of the training set.
PeerResult make_result(const Settings& settings, PeerIndex self, const TrainingOutcome& outcome,
                       Metrics& metrics, std::uint64_t item_count);

/// One line for people, or some; without a final exchange, why it stopped.
void log_ending(const PeerResult& result, const std::function<void(const std::string&)>& log);

}  // namespace ako
