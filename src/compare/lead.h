// The lead: who is first to a target at one place, and who cannot be told from it. Runs of one
// setting differ from seed to seed; two whose ranges over the seeds overlap are not told apart, and
// of one seed there is no range. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "src/compare/outcome.h"

namespace ako {

/// Have both several seeds, and do the ranges of their times to this target lie apart? A seed that
/// never reached it counts as later than all others.
bool told_apart(const Outcome& one, const Outcome& other, std::size_t target_index);

struct Lead {
    const Outcome* first = nullptr;     ///< the shortest median; nullptr: nobody reached the target
    const Outcome* next = nullptr;      ///< the second shortest; nullptr: nobody else reached it
    std::vector<const Outcome*> level;  ///< others that reached it and are not told from the first
    bool several_seeds = false;         ///< of the first

    /// First, and told apart from all others.
    bool clear() const { return first != nullptr && several_seeds && level.empty(); }
};
/// Among the best of each contender for this target.
Lead lead_at(const std::vector<Outcome>& outcomes, const Setting& setting, const Rate& rate,
             std::size_t target_index);

}  // namespace ako
