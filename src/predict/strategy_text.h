// The strategies for people and for programs: a table for each rate, batch and number of machines,
// and JSON. Pure functions; any thread.
#pragma once

#include <string>

#include "src/predict/strategy_prediction.h"

namespace ako {

/// What it rests on, a line each; then the tables, the shortest step first, and below each strategy
/// what stops it.
std::string strategies_text(const StrategyPrediction& prediction);

/// `json`, the text of an object (prediction_text.h), with a member `strategies` after its others:
/// notes, layers, tables. Seconds, bytes, Mbit/s.
std::string with_strategies(const std::string& json, const StrategyPrediction& prediction);

}  // namespace ako
