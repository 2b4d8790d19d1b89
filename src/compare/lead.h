// The lead: who is first to a target at one place, and who cannot be told from it. Runs of one
// setting differ from seed to seed; two whose ranges over the seeds overlap are not told apart, and
// of one seed there is no range. The seeds of a composed outcome share one measured round time, so
// its range is widened by what that may be off. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "src/compare/outcome.h"

namespace ako {

/// What the round time of one run is taken to be off by at most, of itself. Whole runs took 0.99 to
/// 1.02 of what had been composed for them (experiments/compare-mnist), on an idle machine.
constexpr double composed_margin = 0.1;

/// What two times to one target come to.
enum class Difference {
    sure,      ///< both have several seeds, and their ranges lie apart
    overlap,   ///< the ranges over the seeds overlap
    composed,  ///< they do not, and would if a composed time were off by composed_margin
    one_seed,  ///< at least one has a single seed, as after an interruption
};

/// A seed that never reached the target counts as later than all others.
Difference difference(const Outcome& one, const Outcome& other, std::size_t target_index);

/// Is their difference sure?
bool told_apart(const Outcome& one, const Outcome& other, std::size_t target_index);

struct Lead {
    const Outcome* first = nullptr;     ///< the shortest median; nullptr: nobody reached the target
    const Outcome* next = nullptr;      ///< the second shortest; nullptr: nobody else reached it
    std::vector<const Outcome*> level;  ///< others that reached it, and overlap with the first
    bool by_composition = false;        ///< one of them only because a composed time may be off
    std::vector<const Outcome*> open;   ///< others that reached it, of which one seed was run
    bool several_seeds = false;         ///< of the first

    /// First, and told apart from all others.
    bool clear() const {
        return first != nullptr && several_seeds && level.empty() && open.empty();
    }
};
/// Among the best of each contender for this target.
Lead lead_at(const std::vector<Outcome>& outcomes, const Setting& setting, const Rate& rate,
             std::size_t target_index);

}  // namespace ako
