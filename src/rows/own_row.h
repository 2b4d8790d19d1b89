// The own row: the running total of all updates this peer has made, with a rounding carry. With
// Precision::adaptive it is rounded to the grid of each block (grid.h), else to float32 alone.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "ako/algorithm_settings.h"
#include "ako/blocks.h"
#include "src/rows/snapshots.h"

namespace ako {

/// Adds tiny updates to a large float32 total without losing them: what rounding cut off is carried
/// to the next addition (Kahan, "Further remarks on reducing truncation errors", 1965). Compute
/// thread only.
class OwnRow {
  public:
    explicit OwnRow(const Blocks& blocks, Precision precision = Precision::float32)
        : blocks_(blocks), precision_(precision), carry_(blocks.element_count(), 0.0f) {}

    /// Writes one block of the next snapshot: next = current + update, and to `difference` what
    /// really was added to the float32 total; all three spans have the block's length.
    void add(BlockIndex block, const Snapshot& current, std::span<const float> update,
             Snapshot& next, std::span<float> difference);
    Precision precision() const { return precision_; }
    /// The total is another one.
    void forget_carry() { std::fill(carry_.begin(), carry_.end(), 0.0f); }
    /// What rounding has cut off so far, [parameter_count].
    std::span<const float> carry() const { return carry_; }
    std::span<float> carry(BlockIndex block) {
        const Range range = blocks_.range(block);
        return std::span(carry_).subspan(range.first, range.count);
    }

  private:
    Blocks blocks_;
    Precision precision_;
    std::vector<float> carry_;  ///< [parameter_count], not yet in the total
};

}  // namespace ako
