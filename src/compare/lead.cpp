#include "src/compare/lead.h"

#include <algorithm>
#include <limits>

namespace ako {

namespace {

struct Times {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
};

/// From the earliest seed to the latest; infinity: never.
Times times_of(const Outcome& outcome, double target) {
    Times times;
    for (const SeedCurve& seed : outcome.seeds) {
        const std::optional<Reach> reach = seed.curve.reach(target);
        const double seconds = reach ? reach->seconds : std::numeric_limits<double>::infinity();
        times.low = std::min(times.low, seconds);
        times.high = std::max(times.high, seconds);
    }
    return times;
}

Times widened(const Outcome& outcome, Times times) {
    if (!outcome.composed) return times;
    return {times.low * (1 - composed_margin), times.high * (1 + composed_margin)};
}

bool apart(const Times& left, const Times& right) {
    return left.high < right.low || right.high < left.low;
}

}  // namespace

Difference difference(const Outcome& one, const Outcome& other, std::size_t target_index) {
    if (one.seeds.size() < 2 || other.seeds.size() < 2) return Difference::one_seed;
    const double target = one.targets[target_index].target;
    const Times left = times_of(one, target);
    const Times right = times_of(other, target);
    if (!apart(left, right)) return Difference::overlap;
    return apart(widened(one, left), widened(other, right)) ? Difference::sure
                                                            : Difference::composed;
}

bool told_apart(const Outcome& one, const Outcome& other, std::size_t target_index) {
    return difference(one, other, target_index) == Difference::sure;
}

Lead lead_at(const std::vector<Outcome>& outcomes, const Setting& setting, const Rate& rate,
             std::size_t target_index) {
    const std::vector<const Outcome*> best = best_at(outcomes, setting, rate, target_index);
    std::vector<const Outcome*> here = best;
    std::erase_if(here, [&](const Outcome* outcome) {
        return !outcome->targets[target_index].seconds.has_value();
    });
    std::stable_sort(here.begin(), here.end(), [&](const Outcome* left, const Outcome* right) {
        return left->targets[target_index].seconds->median <
               right->targets[target_index].seconds->median;
    });
    Lead lead;
    if (here.empty()) return lead;
    lead.first = here.front();
    lead.several_seeds = lead.first->seeds.size() > 1;
    if (here.size() > 1) lead.next = here[1];
    for (const Outcome* other : best) {
        if (other == lead.first || other->targets[target_index].reached == 0) continue;
        const Difference found = difference(*lead.first, *other, target_index);
        if (found == Difference::overlap || found == Difference::composed)
            lead.level.push_back(other);
        lead.by_composition |= found == Difference::composed;
        if (other->seeds.size() < 2) lead.open.push_back(other);
    }
    return lead;
}

}  // namespace ako
