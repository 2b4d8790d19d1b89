// The strategies for people and for programs: a table for each rate, batch and number of machines,
// and JSON. Pure functions; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/predict/strategy_prediction.h"

namespace ako {

/// What it rests on, a line each; then the tables, the shortest step first, and below each strategy
/// what stops it.
std::string strategies_text(const StrategyPrediction& prediction);

/// One object: notes, layers, tables. Seconds, bytes, Mbit/s.
nlohmann::ordered_json strategies_json(const StrategyPrediction& prediction);

}  // namespace ako
