// Infinities and NaN at every place.
#include "src/numbers/finite.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace ako::finite_test {

TEST_CASE("one value that is not finite is seen, wherever it lies") {
    const float bad[] = {std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity()};
    for (std::size_t count = 1; count <= 40; ++count) {
        std::vector<float> values(count, std::numeric_limits<float>::max());
        REQUIRE(all_finite(values));
        for (std::size_t k = 0; k < count; ++k) {
            for (const float value : bad) {
                values[k] = value;
                REQUIRE(!all_finite(values));
                values[k] = -0.0F;
            }
        }
    }
    CHECK(all_finite({}));
}

}  // namespace ako::finite_test
