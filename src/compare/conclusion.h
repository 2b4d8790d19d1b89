// The conclusion: what the figures of a comparison come to, as one sentence, whoever is first. Pure
// functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "src/compare/outcome.h"

namespace ako {

/// Says, for the highest target that anybody reached in this setting, who is first at each rate,
/// how far before the next and before one machine alone, where ranges overlap, which times were
/// composed, who has one seed only, and where Ako is behind; then how far Ako is below the highest
/// accuracy at the end. "To 98.5 % test accuracy with 4 machines, batch 64:
/// at 50 Mbit/s ako is first, in 19.0 s, 1.3 times as fast as the next (local-sgd)."
std::string conclusion(const Plan& plan, const std::vector<Outcome>& outcomes,
                       const Setting& setting);

}  // namespace ako
