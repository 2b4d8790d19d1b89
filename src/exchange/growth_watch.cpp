#include "src/exchange/growth_watch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/numbers/printed_number.h"

namespace ako {
namespace {

/// Every gradient and update is looked at, so this is quick and not exact: sums of some thousand
/// squares in float32, and those in double. Infinite for values from about 1e19 on.
double squares_of(std::span<const float> values) {
    constexpr std::size_t lanes = 16, part = 4096;
    double sum = 0;
    while (!values.empty()) {
        const std::span<const float> now = values.first(std::min(part, values.size()));
        values = values.subspan(now.size());
        float sums[lanes] = {};
        std::size_t k = 0;
        for (; k + lanes <= now.size(); k += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane)
                sums[lane] += now[k + lane] * now[k + lane];
        for (; k < now.size(); ++k) sums[0] += now[k] * now[k];
        for (const float of_lane : sums) sum += of_lane;
    }
    return sum;
}

std::string number_text(double value) { return printed("%.3g", value); }

}  // namespace

std::optional<std::string> GrowthWatch::look(std::span<const float> part, const char* noun,
                                             Round round, const Roster* peers,
                                             std::span<const float> parameters) {
    looked_at_ += part.size();
    squares_ += squares_of(part);
    if (growth_max_ <= 0) return std::nullopt;
    const double norm = std::sqrt(squares_);
    // Only what is larger than all before it may be too large.
    if (std::isnan(norm) || norm <= largest_) return std::nullopt;
    const auto known = peers != nullptr ? others(*peers, round) : std::nullopt;
    const double median = known ? known->median : 0;
    const double usual = std::max<double>(largest_, median);
    const bool sudden = usual > 0 && norm > growth_max_ * usual;
    const bool creeping = known && known->many && norm > growth_max_ * median;
    if (!sudden && !creeping) return std::nullopt;
    if (made_ < few_rounds && norm <= std::sqrt(squares_of(parameters))) return std::nullopt;
    std::string why = std::string("the ") + noun + " of round " + std::to_string(round) +
                      " is far beyond what is usual: its norm is " + number_text(norm) +
                      ", the largest of this peer so far was " + number_text(largest_);
    if (known) why += ", those of the others were " + number_text(median);
    return why + " (training.growth_max: " + number_text(growth_max_) + ")";
}

void GrowthWatch::end_round(bool made) {
    constexpr double told_max = std::numeric_limits<float>::max();
    const double norm = std::sqrt(squares_);
    if (made && std::isfinite(norm))
        largest_ = std::max(largest_, static_cast<float>(std::min(norm, told_max)));
    if (made) ++made_;
    squares_ = 0;
    looked_at_ = 0;
}

std::optional<GrowthWatch::Others> GrowthWatch::others(const Roster& peers, Round round) {
    std::vector<double> told;
    for (PeerIndex peer = 0; peer < peers.peer_count(); ++peer) {
        const PeerView& view = peers[peer];
        if (peer == peers.self() || !view.status || view.status->standing.largest_norm <= 0)
            continue;
        if (2 * view.announced >= round) told.push_back(view.status->standing.largest_norm);
    }
    if (told.empty()) return std::nullopt;
    // With an even number the larger of the middle two: it refuses less.
    const auto middle = told.begin() + static_cast<std::ptrdiff_t>(told.size() / 2);
    std::nth_element(told.begin(), middle, told.end());
    return Others{*middle, told.size() > 1};
}

}  // namespace ako
