// The storage order of a tensor: its strides in the flat vector, where they are not row-major, as
// with the channels last. Files have the row-major order. Functions; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ako/network.h"

namespace ako {

/// In elements, one per dimension; none: row-major.
using Strides = std::vector<std::ptrdiff_t>;

/// What is wrong with the strides of a tensor of this shape; empty if it lies densely in its run.
std::string refused_strides(const std::vector<std::size_t>& shape, const Strides& strides);

/// Are all row-major?
bool row_major(const std::vector<Tensor>& tensors, const std::vector<Strides>& strides);

/// The flat vector with every tensor in row-major order.
std::vector<float> to_row_major(const std::vector<Tensor>& tensors,
                                const std::vector<Strides>& strides,
                                std::span<const float> flat);

}  // namespace ako
