// The median age of the newest partials of a link.
#include "src/numbers/recent_times.h"

#include <doctest/doctest.h>

namespace ako::recent_times_test {

using std::chrono::milliseconds;

TEST_CASE("no age before the first partial, then the median of what came") {
    RecentAges ages;
    CHECK(ages.median() == Time{0});
    ages.add(milliseconds(9));
    CHECK(ages.median() == milliseconds(9));
    for (const int age : {7, 8, 200, 5}) ages.add(milliseconds(age));
    CHECK(ages.median() == milliseconds(8));
}

TEST_CASE("old ages are forgotten, and none is below zero") {
    RecentAges ages;
    for (std::size_t k = 0; k < RecentAges::count_max; ++k) ages.add(milliseconds(500));
    for (std::size_t k = 0; k < RecentAges::count_max; ++k) ages.add(milliseconds(20));
    CHECK(ages.median() == milliseconds(20));
    for (std::size_t k = 0; k < RecentAges::count_max; ++k) ages.add(milliseconds(-3));
    CHECK(ages.median() == Time{0});
}

}  // namespace ako::recent_times_test
