#include "src/compare/ranking.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ako {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct Merits {
    bool ran = false;
    double target = 0;  ///< the highest that was reached; 0: none
    double seconds = never;
    double accuracy = 0;
};

/// The moment at which the first of the candidates had ended.
double first_end(const std::vector<SeedCurves>& candidates) {
    double seconds = never;
    for (const SeedCurves& seeds : candidates) {
        for (const AccuracyCurve& curve : seeds) {
            if (!curve.points.empty()) seconds = std::min(seconds, curve.points.back().seconds);
        }
    }
    return seconds;
}

Merits merits_of(const SeedCurves& seeds, const std::vector<double>& targets, double moment) {
    Merits merits;
    std::vector<double> accuracies;
    for (const AccuracyCurve& curve : seeds)
        accuracies.push_back(curve.accuracy_at_seconds(moment));
    merits.ran = std::any_of(seeds.begin(), seeds.end(),
                             [](const AccuracyCurve& curve) { return !curve.points.empty(); });
    if (const std::optional<Spread> spread = spread_of(accuracies))
        merits.accuracy = spread->median;
    for (const double target : targets) {
        const TargetReach reach = target_reach(seeds, target);
        if (!reach.seconds || target < merits.target) continue;
        merits.target = target;
        merits.seconds = reach.seconds->median;
    }
    return merits;
}

bool better(const Merits& left, const Merits& right) {
    if (left.ran != right.ran) return left.ran;
    if (left.target != right.target) return left.target > right.target;
    if (left.seconds != right.seconds) return left.seconds < right.seconds;
    return left.accuracy > right.accuracy;
}

}  // namespace

TargetReach target_reach(const std::vector<AccuracyCurve>& seeds, double target) {
    TargetReach reach;
    reach.target = target;
    reach.count = seeds.size();
    std::vector<double> seconds, rounds;
    for (const AccuracyCurve& curve : seeds) {
        const std::optional<Reach> reached = curve.reach(target);
        reach.reached += reached ? 1 : 0;
        seconds.push_back(reached ? reached->seconds : never);
        rounds.push_back(reached ? reached->round : never);
    }
    reach.seconds = spread_of_finite(seconds);
    reach.rounds = spread_of_finite(rounds);
    return reach;
}

std::vector<std::size_t> ranking(const std::vector<SeedCurves>& candidates,
                                 const std::vector<double>& targets) {
    const double moment = first_end(candidates);
    std::vector<Merits> merits;
    merits.reserve(candidates.size());
    for (const SeedCurves& seeds : candidates) merits.push_back(merits_of(seeds, targets, moment));
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        return better(merits[left], merits[right]);
    });
    return order;
}

}  // namespace ako
