// Makes a failing schedule short: removes faults, shortens them and moves them to the front, as
// long as what is left still fails in the same way.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tests/sim/scenario.h"

namespace ako::sim {

/// Runs a scenario: what it violates, or nothing.
using Judge = std::function<std::optional<std::string>(const Scenario&)>;

struct Shrunk {
    Scenario scenario;
    std::string violation;
    unsigned runs = 0;
};

/// `violation` is what `failing` violates. At most `runs_max` runs; in the end no fault can be left
/// out any more unless these are spent.
Shrunk shrink(const Scenario& failing, const std::string& violation, const Judge& judge,
              unsigned runs_max);

/// A violation without the numbers in it: two of the same kind are equal.
std::string kind_of(const std::string& violation);

}  // namespace ako::sim
