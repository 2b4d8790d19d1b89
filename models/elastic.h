// The batches of a peer whose data shard follows the live peers: whoever knows what the others have
// trained on (PortionSource) says which portion is next, and here it becomes images. One thread at
// a time.
#pragma once

#include <cstdint>
#include <memory>

#include "ako/network.h"
#include "ako/portions.h"
#include "models/dataset.h"

namespace ako {

/// All peers pass over all of the set, in orders that follow from the seed and the pass and are the
/// same for all; so is what `augmentation` makes of an image in a pass. A batch may end one portion
/// and begin another. Data set and portions must outlive
/// the source.
std::unique_ptr<BatchSource> make_elastic_source(const Dataset& dataset, PortionSource& portions,
                                                 std::uint64_t seed,
                                                 const AugmentationSettings& augmentation = {});

}  // namespace ako
