#include "src/buckets/buckets.h"

#include <algorithm>

#include "ako/assert.h"
#include "ako/payload.h"

namespace ako {

Buckets::Buckets(std::vector<Range> layers, std::size_t parameter_count,
                 std::size_t bucket_bytes_min, std::size_t bucket_bytes_split) {
    if (layers.empty()) layers.push_back({0, parameter_count});
    const std::size_t elements_split = elements_within(bucket_bytes_split);
    runs_ = put_together(layers, elements_within(bucket_bytes_min));
    for (const Range& run : runs_) {
        const std::size_t parts = std::max<std::size_t>(1, run.count / elements_split);
        for (std::size_t part = 0; part < parts; ++part)
            ranges_.push_back(part_of(run, part, parts));
    }
    AKO_ASSERT(this->parameter_count() == parameter_count,
               std::to_string(this->parameter_count()) + " elements in layers");
}

std::vector<Range> Buckets::put_together(const std::vector<Range>& layers,
                                         std::size_t elements_min) {
    std::vector<Range> runs;
    std::size_t end = 0;
    for (const Range& layer : layers) {
        AKO_ASSERT(layer.first == end, "a layer begins at " + std::to_string(layer.first));
        end += layer.count;
        if (runs.size() <= 1 || runs.back().count >= elements_min)
            runs.push_back(layer);
        else
            runs.back().count += layer.count;
    }
    // A small last one is finished at once by back-propagation, so nothing is lost by joining it.
    if (runs.size() > 2 && runs.back().count < elements_min) {
        runs[runs.size() - 2].count += runs.back().count;
        runs.pop_back();
    }
    return runs;
}

std::size_t Buckets::parameter_count() const {
    return ranges_.empty() ? 0 : ranges_.back().first + ranges_.back().count;
}

std::size_t Buckets::at(std::size_t element) const {
    const auto next =
        std::upper_bound(ranges_.begin(), ranges_.end(), element,
                         [](std::size_t value, const Range& range) { return value < range.first; });
    return static_cast<std::size_t>(next - ranges_.begin()) - 1;
}

Range Buckets::whole_layers(Range range) const {
    if (range.count == 0) return range;
    Range whole{parameter_count(), 0};
    for (const Range& run : runs_) {
        if (run.first + run.count <= range.first || run.first >= range.first + range.count)
            continue;
        whole.first = std::min(whole.first, run.first);
        whole.count += run.count;
    }
    return whole;
}

Buckets::Span Buckets::overlapping(Range range) const {
    if (range.count == 0) return {0, 0};
    return {at(range.first), at(range.first + range.count - 1) + 1};
}

}  // namespace ako
