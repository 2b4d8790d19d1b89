// The memory plan: what one peer will need, term by term, before it starts: what its mode says, and
// what the program needs besides. Values; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "src/config/cluster_settings.h"
#include "src/modes/costs.h"

namespace ako {

struct MemoryPlan {
    std::vector<MemoryTerm> terms;
    std::size_t bytes() const;
    /// Of the terms that are `usual`.
    std::size_t usual_bytes() const;
};

/// `of_program`: the terms of what computes the updates. Throws a StartupError if the model has
/// more parameters than the wire has blocks for.
MemoryPlan plan_memory(const Settings& settings, std::size_t parameter_count,
                       const std::vector<MemoryTerm>& of_program);

/// `memory_mb_max`.
std::size_t allowed_bytes(const Settings& settings);
/// Is the plan within `memory_mb_max`?
bool fits(const Settings& settings, const MemoryPlan& plan);
/// Throws a StartupError with the largest terms if the plan is over `memory_mb_max`.
void check_memory(const Settings& settings, const MemoryPlan& plan);

}  // namespace ako
