// What a program brings into a cluster: named tensors, how they begin, and how much there is to
// train on. A value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ako/data_description.h"
#include "ako/network.h"

namespace ako {

/// What is trained, and on how much.
struct Brought {
    std::vector<Tensor> tensors;  ///< of the flat vector, in its order, without gaps
    std::vector<float> initial;   ///< [parameter_count]
    /// All train from the `initial` of the lowest peer of the file; else everybody's is the same.
    bool initial_of_lowest = false;
    std::uint64_t sample_count = 0;   ///< of the data set, of which `epochs` counts
    std::uint64_t sample_budget = 0;  ///< of all peers together
    /// What must be the same at all peers beside the settings: lines "key: value".
    std::string must_equal = {};
    DataDescription data = {};  ///< empty where nobody knows
};

}  // namespace ako
