// Data shards: which items of the data set a peer trains on, and in which order. All orders follow
// from the cluster's seed and the peer's place, so a run can be repeated. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "ako/network.h"
#include "models/dataset.h"
#include "models/model_settings.h"

namespace ako {

/// The places, in the order that all peers share, of the items that peer i of n owns with
/// `disjoint` sharding.
inline Range disjoint_shard(std::size_t item_count, PeerIndex self, std::size_t peer_count) {
    const std::size_t first = item_count * self / peer_count;
    return {first, item_count * (self + 1) / peer_count - first};
}

/// Throws StartupError if not every peer can have an item.
void check_shardable(const Dataset& dataset, std::size_t peer_count);

/// `disjoint`: all peers shuffle the set in the same way and peer i of n owns the i-th of n equal
/// parts (their sizes differ by at most one), which it shuffles anew for each pass over it.
/// `shuffled`: each peer passes over all of the set, in orders of its own.
/// A batch may end one pass and begin the next. What `augmentation` makes of an image follows from
/// the seed, the peer and how many it has drawn or skipped before. The data set must outlive the
/// source. Throws StartupError where a part would be empty.
std::unique_ptr<BatchSource> make_shard(const Dataset& dataset, Sharding sharding, PeerIndex self,
                                        std::size_t peer_count, std::uint64_t seed,
                                        const AugmentationSettings& augmentation = {});

/// For a network that needs no data: batches of a count and nothing else.
std::unique_ptr<BatchSource> make_countless_source();

}  // namespace ako
