// How much of a vector is ready, from its end, whatever the order.
#include "src/rows/ready_end.h"

#include <doctest/doctest.h>

namespace ako::ready_end_test {

TEST_CASE("layers that are ready from the last to the first") {
    ReadyEnd ready(100);
    CHECK(ready.add({90, 10}) == 90);
    CHECK(ready.add({40, 50}) == 40);
    CHECK(ready.add({0, 40}) == 0);
}

TEST_CASE("what is ready before what lies behind it counts as soon as that is") {
    ReadyEnd ready(100);
    CHECK(ready.add({40, 20}) == 100);
    CHECK(ready.add({60, 20}) == 100);
    CHECK(ready.add({0, 0}) == 100);
    CHECK(ready.add({80, 20}) == 40);
    CHECK(ready.add({0, 40}) == 0);
}

}  // namespace ako::ready_end_test
