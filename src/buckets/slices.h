// How servers share the flat vector: each bucket is cut into one part per server, so
// that every server has its share of the bytes of every layer, and each part into slices, which are
// pushed, stepped and pulled one by one so that both directions of a link are busy at once. A
// value, constant after construction; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "src/buckets/buckets.h"

namespace ako {

struct Slice {
    Range range;
    std::size_t bucket = 0;
    std::size_t server = 0;  ///< by its place among the servers
};

class Slices {
  public:
    /// 64 KiB: a few milliseconds of a slow link, and enough for a header not to matter.
    static constexpr std::size_t elements_max = std::size_t{16} * 1024;

    Slices(const Buckets& buckets, std::size_t server_count) {
        for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket) {
            first_of_bucket_.push_back(slices_.size());
            for (std::size_t server = 0; server < server_count; ++server) {
                const Range part = part_of(buckets[bucket], server, server_count);
                const std::size_t pieces = (part.count + elements_max - 1) / elements_max;
                for (std::size_t piece = 0; piece < pieces; ++piece)
                    slices_.push_back({part_of(part, piece, pieces), bucket, server});
            }
        }
        first_of_bucket_.push_back(slices_.size());
    }

    std::size_t count() const { return slices_.size(); }
    const Slice& operator[](std::size_t slice) const { return slices_[slice]; }
    /// The slices of a bucket are first_of(bucket) .. first_of(bucket + 1) - 1.
    std::size_t first_of(std::size_t bucket) const { return first_of_bucket_[bucket]; }
    /// The slice that holds this element.
    std::size_t at(std::size_t element) const {
        const auto next = std::upper_bound(
            slices_.begin(), slices_.end(), element,
            [](std::size_t value, const Slice& slice) { return value < slice.range.first; });
        return static_cast<std::size_t>(next - slices_.begin()) - 1;
    }

  private:
    std::vector<Slice> slices_;
    std::vector<std::size_t> first_of_bucket_;
};

}  // namespace ako
