// A peer is well if it has posted, and not long ago.
#include "src/observe/health.h"

#include <doctest/doctest.h>

#include <memory>

#include "tests/unit/observe/observed_example.h"

namespace ako::health_test {

TEST_CASE("a peer is well once it has posted, until it has stood still for a minute") {
    const std::chrono::steady_clock::time_point then{std::chrono::hours(1)};
    CHECK_FALSE(health_of({}, then).is_well);
    const Board::Post post{7, std::make_shared<const Observed>(observed_example()), then};

    const Health fresh = health_of(post, then);
    CHECK(fresh.is_well);
    CHECK(fresh.words == "a is well: training, round 321");
    CHECK(health_of(post, then + stands_still_after - std::chrono::milliseconds(1)).is_well);

    const Health still = health_of(post, then + stands_still_after + std::chrono::seconds(15));
    CHECK_FALSE(still.is_well);
    CHECK(still.words == "a has stood still for 75 s: training, round 321");
}

}  // namespace ako::health_test
