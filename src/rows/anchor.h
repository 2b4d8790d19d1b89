// The anchor: the model that all peers agree on, a pure function of the initial parameters and the
// rows.
#pragma once

#include <span>

#include "ako/types.h"

namespace ako {

/// out = initial + (rows[0] + rows[1] + ...) / rows.size(), element by element over `range`.
///
/// `initial` and every row are the whole vector, [parameter_count]; `out` is [range.count]. The sum
/// is made in double precision in the order of the peers, then rounded once: the same bits on every
/// machine and from every compiler (the file is compiled without contraction into fused
/// multiply-adds).
void compute_anchor(std::span<const float> initial, std::span<const std::span<const float>> rows,
                    Range range, std::span<float> out);

}  // namespace ako
