// What the strategies of the oracle (strategies.h) make of a network, for the machines, rates and
// batches that `ako predict` is asked about. A step is of as many samples as all machines have in
// one round of a mode, so that steps and rounds stand side by side. Values and a function; any
// thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/config/cluster_settings.h"
#include "src/predict/machine_profile.h"
#include "src/predict/prediction.h"
#include "src/predict/strategies.h"

namespace ako {

struct StrategyTable {
    double rate_mbit = 0;
    std::size_t batch = 0;  ///< samples of a round of each peer, as elsewhere
    std::size_t machines = 0;
    bool extrapolated = false;            ///< more samples of a step than were measured at once
    std::vector<StrategyAnswer> answers;  ///< as ranked_strategies has them

    std::size_t samples() const { return batch * machines; }
};

struct StrategyPrediction {
    std::vector<std::string> notes;   ///< what it rests on, for people
    std::vector<std::string> layers;  ///< names, to which stages of a pipeline refer
    std::vector<StrategyTable> tables;
};

/// A table for each rate, batch and number of machines beyond one. All machines are taken to be
/// like the slowest. `profiles` as `predict` of prediction.h takes them. Throws StartupError for a
/// network without layers.
StrategyPrediction predict_strategies(const PredictionQuestion& question,
                                      const std::vector<MachineProfile>& profiles,
                                      const Settings& settings);

}  // namespace ako
