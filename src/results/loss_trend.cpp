#include "src/results/loss_trend.h"

#include <algorithm>
#include <cmath>

namespace ako {

void LossTrend::add(float loss, double progress) {
    if (!std::isfinite(loss)) return;
    if (!first_) {
        first_ = largest_of_first_ = loss;
        late_ = progress > begins_late;
        return;
    }
    if (count_ + 1 < losses_of_an_end) largest_of_first_ = std::max(largest_of_first_, loss);
    newest_.at(count_ % losses_of_an_end) = loss;
    ++count_;
}

std::optional<LossTrend::Ends> LossTrend::ends() const {
    if (late_ || count_ < losses_of_an_end) return std::nullopt;
    std::array<float, losses_of_an_end> sorted = newest_;
    const auto middle = sorted.begin() + losses_of_an_end / 2;
    std::nth_element(sorted.begin(), middle, sorted.end());
    return Ends{static_cast<double>(*first_), static_cast<double>(largest_of_first_),
                static_cast<double>(*middle)};
}

}  // namespace ako
