// The one place where a peer's running total grows.
#include "src/rows/own_row.h"

#include "src/numbers/checksum.h"

namespace ako {

void OwnRow::add(BlockIndex block, const Snapshot& current, std::span<const float> update,
                 Snapshot& next, std::span<float> difference) {
    const Range range = blocks_.range(block);
    const float* total = current.values.data() + range.first;
    float* grown = next.values.data() + range.first;
    float* carry = carry_.data() + range.first;
    for (std::size_t k = 0; k < range.count; ++k) {
        const float wanted = update[k] + carry[k];
        grown[k] = total[k] + wanted;
        difference[k] = grown[k] - total[k];
        carry[k] = wanted - difference[k];
    }
    next.checksums[block] = crc32c(std::span<const float>(grown, range.count));
}

}  // namespace ako
