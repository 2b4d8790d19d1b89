// Buckets: the flat parameter vector cut into runs, each exchanged on its own as soon as
// back-propagation has finished it. Small layers are put together, large ones are split, for a
// layer may finish its gradient, and use its parameters, piece by piece. The first layer shares a
// bucket with none, for it is ready last and needed first. A value, constant after construction;
// any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "ako/types.h"

namespace ako {

class Buckets {
  public:
    /// Neighbouring layers are put together until they have so many bytes: below it a frame's
    /// header and the calls of the system cost more than the bytes do.
    static constexpr std::size_t bytes_min = std::size_t{64} * 1024;
    /// A layer of twice so many bytes or more becomes several buckets, of so many or more each.
    static constexpr std::size_t bytes_split = std::size_t{256} * 1024;

    Buckets() = default;
    /// `layers` are in order and without gaps; a vector that has none counts as one layer.
    Buckets(std::vector<Range> layers, std::size_t parameter_count,
            std::size_t bucket_bytes_min = bytes_min, std::size_t bucket_bytes_split = bytes_split);

    std::size_t count() const { return ranges_.size(); }
    const Range& operator[](std::size_t bucket) const { return ranges_[bucket]; }
    std::size_t parameter_count() const;
    /// The bucket that holds this element.
    std::size_t at(std::size_t element) const;
    /// The buckets that hold an element of the range: first, and one beyond the last.
    struct Span {
        std::size_t first = 0;
        std::size_t end = 0;
    };
    Span overlapping(Range range) const;
    /// The whole layers that share a bucket with an element of the range, and all that share one
    /// with these: their buckets hold nothing else.
    Range whole_layers(Range range) const;

  private:
    static std::vector<Range> put_together(const std::vector<Range>& layers,
                                           std::size_t elements_min);

    std::vector<Range> ranges_;
    std::vector<Range> runs_;  ///< of whole layers; each is cut into buckets
};

/// Which of `count` equal parts of `range` holds this element.
constexpr std::size_t part_at(Range range, std::size_t element, std::size_t count) {
    // The first guess is off by at most one, because part_of rounds down.
    std::size_t part = (element - range.first) * count / range.count;
    while (part + 1 < count && part_of(range, part + 1, count).first <= element) ++part;
    return part;
}

}  // namespace ako
