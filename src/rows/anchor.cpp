// Compiled with -ffp-contract=off and without reassociation: see anchor.h.
#include "src/rows/anchor.h"

#include <algorithm>
#include <array>

#include "ako/assert.h"

namespace ako {

void compute_anchor(std::span<const float> initial, std::span<const std::span<const float>> rows,
                    Range range, std::span<float> out) {
    AKO_ASSERT(out.size() == range.count && range.first + range.count <= initial.size(),
               "range of the anchor outside the vector");
    constexpr std::size_t stretch = 1024;  // doubles that stay in the first-level cache: 8 KiB
    std::array<double, stretch> sum;
    const auto peer_count = static_cast<double>(rows.size());
    for (std::size_t done = 0; done < range.count; done += stretch) {
        const std::size_t count = std::min(stretch, range.count - done);
        const std::size_t first = range.first + done;
        std::fill_n(sum.begin(), count, 0.0);
        for (const std::span<const float> row : rows) {
            const float* from = row.data() + first;
            for (std::size_t k = 0; k < count; ++k) sum[k] += static_cast<double>(from[k]);
        }
        for (std::size_t k = 0; k < count; ++k) {
            out[done + k] =
                static_cast<float>(static_cast<double>(initial[first + k]) + sum[k] / peer_count);
        }
    }
}

}  // namespace ako
