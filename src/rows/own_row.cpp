// The one place where a peer's running total grows.
#include "src/rows/own_row.h"

#include <optional>

#include "src/numbers/checksum.h"
#include "src/rows/grid.h"

namespace ako {

void OwnRow::add(BlockIndex block, const Snapshot& current, std::span<const float> update,
                 Snapshot& next, std::span<float> difference) {
    const Range range = blocks_.range(block);
    const float* total = current.values.data() + range.first;
    float* grown = next.values.data() + range.first;
    float* carry = carry_.data() + range.first;
    for (std::size_t k = 0; k < range.count; ++k) {
        carry[k] += update[k];
        grown[k] = total[k] + carry[k];
    }
    if (precision_ == Precision::adaptive) {
        const float largest = largest_of({grown, range.count});
        if (const std::optional<Grid> grid = Grid::fitting(largest, update)) {
            for (std::size_t k = 0; k < range.count; ++k) grown[k] = grid->rounded(grown[k]);
        }
    }
    for (std::size_t k = 0; k < range.count; ++k) {
        difference[k] = grown[k] - total[k];
        carry[k] -= difference[k];
    }
    next.checksums[block] = crc32c(std::span<const float>(grown, range.count));
}

}  // namespace ako
