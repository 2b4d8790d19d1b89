// See advice.h.
#include "src/predict/advice.h"

#include <algorithm>
#include <cmath>

namespace ako {

std::optional<Peak> peak_of(const Prediction& prediction, const std::string& mode, double rate_mbit,
                            std::size_t batch) {
    const Predicted* best = nullptr;
    std::size_t most = 0;
    for (const Predicted& cell : prediction.cells) {
        const bool of_mode = cell.machines == 1 || cell.mode.kind() == mode;
        if (!of_mode || !cell.is_in(rate_mbit, batch)) continue;
        most = std::max(most, cell.machines);
        if (best == nullptr || cell.step.samples_per_s > best->step.samples_per_s) best = &cell;
    }
    if (best == nullptr) return std::nullopt;
    return Peak{best, best->machines < most};
}

std::vector<const Predicted*> ranked(const Prediction& prediction, std::size_t machines,
                                     double rate_mbit, std::size_t batch) {
    std::vector<const Predicted*> found;
    for (const Predicted& cell : prediction.cells)
        if (cell.machines == machines && cell.is_in(rate_mbit, batch)) found.push_back(&cell);
    std::stable_sort(found.begin(), found.end(), [](const Predicted* a, const Predicted* b) {
        return a->step.samples_per_s > b->step.samples_per_s;
    });
    return found;
}

std::optional<double> price(const Predicted& cell, Goal goal) {
    if (!cell.rounds_factor) return std::nullopt;
    if (goal == Goal::accuracy && *cell.rounds_factor > 1) return std::nullopt;
    const double seconds =
        cell.target_s ? *cell.target_s : *cell.rounds_factor / cell.step.samples_per_s;
    return goal == Goal::cost ? seconds * static_cast<double>(cell.machines) : seconds;
}

std::vector<const Predicted*> choices(const Prediction& prediction, double rate_mbit,
                                      std::size_t batch, Goal goal) {
    std::vector<const Predicted*> found;
    for (const Predicted& cell : prediction.cells)
        if (cell.is_in(rate_mbit, batch) && price(cell, goal)) found.push_back(&cell);
    std::stable_sort(found.begin(), found.end(), [goal](const Predicted* a, const Predicted* b) {
        return *price(*a, goal) < *price(*b, goal);
    });
    return found;
}

std::optional<double> rate_for(double efficiency, double most_mbit,
                               const std::function<double(double mbit)>& efficiency_at) {
    if (efficiency_at(most_mbit) < efficiency) return std::nullopt;
    double low = 0.1, high = most_mbit;
    constexpr double near_enough = 1.02;
    while (high / low > near_enough) {
        const double middle = std::sqrt(low * high);
        (efficiency_at(middle) < efficiency ? low : high) = middle;
    }
    return high;
}

}  // namespace ako
