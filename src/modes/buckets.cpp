#include "src/modes/buckets.h"

#include <algorithm>

#include "ako/assert.h"

namespace ako {

Buckets::Buckets(const std::vector<Range>& layers, std::size_t parameter_count,
                 std::size_t bucket_bytes_min) {
    const std::size_t elements_min = bucket_bytes_min / sizeof(float);
    std::size_t end = 0;
    for (const Range& layer : layers) {
        AKO_ASSERT(layer.first == end, "a layer begins at " + std::to_string(layer.first));
        end += layer.count;
        if (ranges_.size() <= 1 || ranges_.back().count >= elements_min)
            ranges_.push_back(layer);
        else
            ranges_.back().count += layer.count;
    }
    if (layers.empty()) ranges_.push_back({0, end = parameter_count});
    AKO_ASSERT(end == parameter_count, std::to_string(end) + " elements in layers");
    // A small last one is finished at once by back-propagation, so nothing is lost by joining it.
    if (ranges_.size() > 2 && ranges_.back().count < elements_min) {
        ranges_[ranges_.size() - 2].count += ranges_.back().count;
        ranges_.pop_back();
    }
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

Buckets::Span Buckets::overlapping(Range range) const {
    if (range.count == 0) return {0, 0};
    return {at(range.first), at(range.first + range.count - 1) + 1};
}

}  // namespace ako
