#include "src/results/shard_passes.h"

#include <fmt/format.h>

#include <algorithm>

namespace ako {

namespace {

/// Machines of one kind differ by some percent; from here on some samples count visibly more.
constexpr double ratio_min = 1.5;
/// And at least by half a pass: the end of a run may fall into the middle of one.
constexpr double difference_min = 0.5;

}  // namespace

std::string uneven_shards_text(const std::vector<ShardPasses>& shards) {
    if (shards.empty()) return "";
    const auto [least, most] = std::minmax_element(
        shards.begin(), shards.end(),
        [](const auto& one, const auto& other) { return one.passes() < other.passes(); });
    if (most->passes() < ratio_min * least->passes() ||
        most->passes() - least->passes() < difference_min)
        return "";
    return fmt::format(
        "data shards were seen {:.1f} times ({}) to {:.1f} times ({}), because peers are not "
        "equally fast: with data.sharding: shuffled every peer draws from all samples",
        least->passes(), least->peer, most->passes(), most->peer);
}

}  // namespace ako
