// How much of the sample budget is spent. Pure; any thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ako {

/// 0 .. 1; of no budget all is spent.
constexpr double share_of_budget(std::uint64_t samples, std::uint64_t budget) {
    if (budget == 0) return 1;
    return std::min(1.0, static_cast<double>(samples) / static_cast<double>(budget));
}

}  // namespace ako
