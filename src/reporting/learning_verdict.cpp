#include "src/reporting/learning_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ako {

std::optional<double> chance_accuracy(std::span<const std::size_t> samples_of_class) {
    constexpr double deviations = 2;
    constexpr double common_class_max = 0.6;
    const auto samples = static_cast<double>(
        std::accumulate(samples_of_class.begin(), samples_of_class.end(), std::size_t{0}));
    if (samples == 0) return std::nullopt;
    const double common =
        static_cast<double>(*std::max_element(samples_of_class.begin(), samples_of_class.end())) /
        samples;
    if (common > common_class_max) return std::nullopt;
    return common + deviations * std::sqrt(common * (1 - common) / samples);
}

std::string why_not_learned(std::optional<double> accuracy, std::optional<double> chance,
                            const std::optional<LossTrend::Ends>& losses) {
    const bool told_by_accuracy = accuracy && chance;
    if (told_by_accuracy && *accuracy > *chance) return "";
    // Where only losses tell, whoever begins with a trained model has tiny ones at first.
    const double before = !losses ? 0 : told_by_accuracy ? losses->first : losses->largest_of_first;
    if (before > 0 && losses->newest > loss_growth_max * before)
        return fmt::format(
            "the loss has grown from {:.3g} in the first round to {:.3g} in the last ones: the "
            "training has diverged",
            losses->first, losses->newest);
    if (!told_by_accuracy) return "";
    return fmt::format(
        "an accuracy of {:.2f} % is no better than chance ({:.2f} % here): the model has learned "
        "nothing",
        *accuracy * 100, *chance * 100);
}

}  // namespace ako
