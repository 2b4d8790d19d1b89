// See accumulation.h.
#include "models/accumulation.h"

#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "ako/norm.h"

namespace ako {

Accumulation::Accumulation(std::unique_ptr<Network> network, std::size_t samples_at_once)
    : network_(std::move(network)),
      samples_at_once_(samples_at_once),
      sum_(network_->parameter_count()) {
    AKO_ASSERT(samples_at_once >= 1, "a part has a sample");
}

float Accumulation::gradient(const Batch& batch, std::span<const float> parameters,
                             std::span<float> gradient, const AwaitRange& await,
                             const RangeReady& ready) {
    norms_.reset();
    const std::size_t parts = parts_of(batch.count);
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
