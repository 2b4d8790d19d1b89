// Initial parameters from a seed: the same bits on every machine and from every compiler, because
// peers compare digests of them before they train together. Compiled with -ffp-contract=off; uses
// integers, exact conversions, one multiplication per element and std::sqrt, which IEEE 754 rounds
// exactly; no other mathematical function and no std:: distribution.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ako/network.h"

namespace ako {

/// Fills `parameters` as the tensors lie in it. A tensor of one dimension is a bias and becomes 0;
/// with a name that ends in ".weight" it is the factors of a normalisation, which become 1. Any
/// other has its outputs as first dimension and is drawn uniformly from +-sqrt(3 / inputs), so its
/// elements have the variance 1 / inputs (LeCun et al., "Efficient BackProp", 1998).
void initialize_parameters(const std::vector<Tensor>& tensors, std::uint64_t seed,
                           std::span<float> parameters);

}  // namespace ako
