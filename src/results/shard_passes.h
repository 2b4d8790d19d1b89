// How often the samples of each data shard were trained on (`data.sharding: disjoint`). Peers share
// one budget of samples, so a fast one passes over its shard more often than a slow one over its
// own. Values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ako {

struct ShardPasses {
    std::string peer;
    std::uint64_t samples = 0;  ///< in the shard
    std::uint64_t seen = 0;     ///< trained on, passes added up

    double passes() const { return static_cast<double>(seen) / static_cast<double>(samples); }
    bool operator==(const ShardPasses&) const = default;
};

/// "data shards were seen 1.3 times (b) to 3.8 times (a), ...", with the remedy; empty if all were
/// seen about as often.
std::string uneven_shards_text(const std::vector<ShardPasses>& shards);

}  // namespace ako
