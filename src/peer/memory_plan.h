// The memory plan: what one peer will need, term by term, before it starts: what its mode says, and
// what all modes need besides. Values; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "src/config/settings.h"
#include "src/modes/costs.h"

namespace ako {

struct MemoryPlan {
    std::vector<MemoryTerm> terms;
    std::size_t bytes() const;
};

/// What a run needs besides vectors.
struct MemoryOfRun {
    std::size_t parameter_count = 0;
    std::size_t data_bytes = 0;  ///< training and test set, as held
};

/// Throws a StartupError if the model has more parameters than the wire has blocks for.
MemoryPlan plan_memory(const Settings& settings, const MemoryOfRun& run);

/// Is the plan within `memory_mb_max`?
bool fits(const Settings& settings, const MemoryPlan& plan);
/// Throws a StartupError with the largest terms if the plan is over `memory_mb_max`.
void check_memory(const Settings& settings, const MemoryPlan& plan);

}  // namespace ako
