// Blocks: the flat parameter vector cut into fixed runs, the unit of versions and checksums.
#pragma once

#include <algorithm>
#include <cstddef>

#include "ako/payload.h"
#include "ako/types.h"

namespace ako {

/// Elements of a block in production: 4,096 floats are 16 KiB, the smallest message worth its
/// header and about one fill of a small socket buffer. Tests use smaller ones.
inline constexpr std::size_t block_elements_default = 4096;

/// Blocks of the largest model: 134 million parameters. The version map of a row, in the worst case
/// one run a block, must fit into one header.
inline constexpr std::size_t block_count_max = std::size_t{1} << 15;

/// How `element_count` floats fall into blocks of `block_elements`; the last may be shorter. A
/// value.
class Blocks {
  public:
    Blocks() = default;
    explicit Blocks(std::size_t element_count, std::size_t block_elements = block_elements_default)
        : element_count_(element_count), block_elements_(block_elements) {}

    std::size_t element_count() const { return element_count_; }
    std::size_t block_elements() const { return block_elements_; }
    BlockIndex count() const { return first_from(element_count_); }

    /// The elements of one block.
    Range range(BlockIndex block) const { return range(BlockRun{block, 1}); }

    /// The first block that begins at this element or behind it; `count()` if none does.
    BlockIndex first_from(std::size_t element) const {
        return static_cast<BlockIndex>((element + block_elements_ - 1) / block_elements_);
    }

    /// The elements of a run of blocks.
    Range range(BlockRun run) const {
        const std::size_t first = std::min(run.first * block_elements_, element_count_);
        const std::size_t end =
            std::min((std::size_t{run.first} + run.count) * block_elements_, element_count_);
        return {first, end - first};
    }

    /// How many blocks fit into one frame's payload.
    BlockIndex run_count_max() const {
        return static_cast<BlockIndex>(
            std::max<std::size_t>(1, elements_within(payload_bytes_limit) / block_elements_));
    }

    /// Is the run inside the vector, not empty, and small enough for one frame?
    bool valid(BlockRun run) const {
        return run.count >= 1 && run.count <= run_count_max() && run.first < count() &&
               run.count <= count() - run.first;
    }

  private:
    std::size_t element_count_ = 0;
    std::size_t block_elements_ = block_elements_default;
};

}  // namespace ako
