// The memory of a peer that trains a network of the catalog. Functions; any thread.
#pragma once

#include <cstddef>

#include "src/config/settings.h"
#include "src/member/memory_plan.h"

namespace ako {

/// What a run needs besides vectors.
struct MemoryOfRun {
    std::size_t parameter_count = 0;
    std::size_t data_bytes = 0;  ///< training and test set, as held
};

/// Throws as plan_memory of the member.
MemoryPlan plan_memory(const Settings& settings, const MemoryOfRun& run);

}  // namespace ako
