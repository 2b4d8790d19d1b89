// The memory of a peer that trains a network of the catalog. Functions; any thread.
#pragma once

#include <cstddef>

#include "src/config/cluster_settings.h"
#include "src/wiring/memory_plan.h"

namespace ako {

/// What a run needs besides vectors.
struct MemoryOfRun {
    std::size_t parameter_count = 0;
    std::size_t data_bytes = 0;  ///< training and test set, as held
};

/// Throws as plan_memory of the wiring. With `training.learners: auto` of one learner.
MemoryPlan plan_memory(const Settings& settings, const MemoryOfRun& run);

/// With `training.learners: auto`: as many as there are cores, and as memory is allowed beside
/// `plan`; at least 1.
unsigned learners_at_most(const Settings& settings, std::size_t parameter_count,
                          const MemoryPlan& plan);

}  // namespace ako
