#include "src/numbers/durations.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "ako/assert.h"

namespace ako {

namespace {

const double bin_growth = std::log(1.005);
/// From 1 ns to about three hours; what is longer counts as that.
constexpr std::size_t bin_count = 6'000;

std::size_t bin_of(Time duration) {
    const double place = std::log(std::max(1.0, static_cast<double>(duration.count())));
    return std::min(static_cast<std::size_t>(place / bin_growth), bin_count - 1);
}

}  // namespace

Durations::Durations() : bins_(bin_count) {}

void Durations::add(Time duration) {
    AKO_ASSERT(duration.count() >= 0, std::to_string(duration.count()) + " ns");
    ++bins_[bin_of(duration)];
    ++count_;
    sum_ += duration;
}

Time Durations::quantile(double share) const {
    if (count_ == 0) return Time{};
    const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
    std::uint64_t below = 0;
    std::size_t bin = 0;
    for (; bin < bin_count; ++bin) {
        below += bins_[bin];
        if (below >= std::max<std::uint64_t>(1, wanted)) break;
    }
    const double middle = std::exp((static_cast<double>(bin) + 0.5) * bin_growth);
    return Time(static_cast<Time::rep>(middle));
}

}  // namespace ako
