// What the cluster file says to a mode, and what the mode then costs a peer; who trains, and
// whether data shards follow them. Functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/config/cluster_settings.h"
#include "src/exchange/mode_settings.h"
#include "src/modes/costs.h"

namespace ako {

/// A worker's place among those that train, and how many there are.
struct WorkerPlace {
    PeerIndex place = 0;
    std::size_t count = 0;
};
WorkerPlace place_among_workers(const Settings& settings, PeerIndex self);

/// The place of a worker's data shard in the data set, and how many there are. With
/// `data.sharding: own` its shard is all of its data set.
WorkerPlace shard_place(const Settings& settings, PeerIndex self);

/// Samples of the data sets of all peers together, where one peer's has `held`. They are one and
/// the same but with `data.sharding: own`.
std::uint64_t samples_of_all(const Settings& settings, std::uint64_t held);

/// With `data.sharding: own`: throws StartupError if a worker holds another number of samples than
/// the file says of it.
void check_own_samples(const Settings& settings, PeerIndex worker, std::uint64_t held);

/// Do data shards follow the live peers? In the other modes than ako they are `disjoint` then:
/// there nobody can be spared, or nobody knows of the others.
bool shards_follow(const Settings& settings);

/// The same for all peers; what only a peer knows is left as it is by default.
ModeSettings mode_settings(const Settings& settings);

ModeCosts mode_costs(const Settings& settings, std::size_t parameter_count);

}  // namespace ako
