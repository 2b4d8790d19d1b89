// A prediction for people and for programs: tables of text, and JSON. Pure functions; any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/predict/advice.h"
#include "src/predict/prediction.h"

namespace ako {

/// Milliseconds of a second, bytes of a megabyte.
inline constexpr double ms = 1e3;
inline constexpr double mb = 1e6;

/// What the prediction rests on: a line each, beginning with what was measured or assumed.
using Grounds = std::vector<std::string>;

/// What a table is of.
struct TableOf {
    double rate_mbit = 0;
    std::size_t batch = 0;

    auto operator<=>(const TableOf&) const = default;
};
std::vector<TableOf> tables_of(const Prediction& prediction);
/// Its cells, the machines rising, the fastest mode first.
std::vector<const Predicted*> cells_of(const Prediction& prediction, const TableOf& table);

/// "50 Mbit/s"; 0: no limit.
std::string rate_text(double mbit);

/// The first of `choices`, what it brings, and by how much the second is worse.
std::string choice_text(const std::vector<const Predicted*>& cells, Goal goal);

/// What links a cell would take for what shares of its processors, see `rates_for`.
using RatesOf = std::function<std::vector<RateForShare>(const Predicted&)>;

/// What to do, a line for each rate and batch: the machines and mode that are best for this goal,
/// the second best, and how to say it to `ako launch`. `rates_of` may be empty.
std::string headline_text(const Prediction& prediction, Goal goal, const RatesOf& rates_of);
/// A table for each rate and batch, the machines rising, the fastest mode first.
std::string tables_text(const Prediction& prediction);
/// Where more machines stop paying, a line for each mode, at each rate and batch.
std::string peaks_text(const Prediction& prediction);
/// One object: grounds, cells, left_out. Seconds, bytes, Mbit/s.
nlohmann::ordered_json prediction_json(const Prediction& prediction, const Grounds& grounds);

}  // namespace ako
