// What a cluster file may say and hardly means: said before a run begins, which goes on all the
// same. What is wrong is refused elsewhere. Functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/config/cluster_settings.h"
#include "src/wiring/memory_plan.h"

namespace ako {

/// How much a run comes to.
struct RunSize {
    std::size_t parameter_count = 0;
    std::uint64_t sample_budget = 0;
    MemoryPlan memory = {};
    std::vector<std::string> data_notes = {};  ///< what was changed as the data were read
    std::optional<double> chance = {};         ///< the accuracy of who has learned nothing
};

/// Rounds of one peer if all who train are equally fast; at least 1.
std::uint64_t rounds_per_peer(const Settings& settings, std::uint64_t sample_budget);

/// Each in one line, "cluster.yaml:9:15: exchange.partitions: ...", with what to do.
std::vector<std::string> warnings(const Settings& settings, const RunSize& run);

}  // namespace ako
