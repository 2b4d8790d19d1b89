// See accumulation.h.
#include "models/accumulation.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "ako/assert.h"

namespace ako {
namespace {

/// In several sums, which the compiler adds side by side.
double squared_norm(std::span<const float> values) {
    std::array<double, 8> sums{};
    std::size_t k = 0;
    for (; k + sums.size() <= values.size(); k += sums.size())
        for (std::size_t lane = 0; lane < sums.size(); ++lane)
            sums.at(lane) += static_cast<double>(values[k + lane]) * values[k + lane];
    for (; k < values.size(); ++k) sums[0] += static_cast<double>(values[k]) * values[k];
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

Accumulation::Accumulation(std::unique_ptr<Network> network, std::size_t parts)
    : network_(std::move(network)), parts_(parts), sum_(network_->parameter_count()) {
    AKO_ASSERT(parts >= 2, "a batch in one part is a batch");
}

float Accumulation::gradient(const Batch& batch, std::span<const float> parameters,
                             std::span<float> gradient, const AwaitRange& await,
                             const RangeReady& ready) {
    norms_.reset();
    const std::size_t parts = std::min(parts_, batch.count);
    if (parts < 2) return network_->gradient(batch, parameters, gradient, await, ready);
    const auto no_wait = [](Range) {};  // the first part has waited
    double loss = 0, of_parts = 0, of_whole = 0, inverse_counts = 0;
    std::size_t first = 0;
    for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t count = (batch.count - first) / (parts - part);
        const auto weight = static_cast<float>(count) / static_cast<float>(batch.count);
        const auto add = [&](Range range) {
            const std::span<float> values = gradient.subspan(range.first, range.count);
            of_parts += squared_norm(values) / static_cast<double>(parts);
            float* const sum = sum_.data() + range.first;
            for (std::size_t k = 0; k < range.count; ++k)
                sum[k] = (part == 0 ? 0 : sum[k]) + weight * values[k];
        };
        const auto add_last = [&](Range range) {
            add(range);
            const std::span<float> values = gradient.subspan(range.first, range.count);
            std::copy_n(sum_.data() + range.first, range.count, values.data());
            of_whole += squared_norm(values);
            if (ready) ready(range);
        };
        const bool is_last = part + 1 == parts;
        loss += weight * network_->gradient(batch.part(first, count), parameters, gradient,
                                            part == 0 ? await : AwaitRange(no_wait),
                                            is_last ? RangeReady(add_last) : RangeReady(add));
        first += count;
        inverse_counts += 1 / static_cast<double>(count);
    }
    norms_ = {of_parts, static_cast<double>(parts) / inverse_counts, of_whole,
              static_cast<double>(batch.count)};
    return static_cast<float>(loss);
}

}  // namespace ako
