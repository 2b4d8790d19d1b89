// Two processes ran under one name, and each was heard in turn, as sessions broke. What one said
// differed from what the other had said, and each time that was taken for movement: the end went on
// for up to a second after the last that moved (simulate, seeds 210783, 228855, 241063).
#include <doctest/doctest.h>

#include "src/agreement/movement.h"

namespace ako::two_processes_move_nothing_test {

TEST_CASE("issue: two processes that take turns to be heard move nothing on") {
    using std::chrono::seconds;
    Movement movement(2);
    Status first, second;
    first.heartbeat.process_id = 1;
    first.rows.resize(2);
    second = first;
    second.heartbeat.process_id = 2;
    second.rows[1].map_checksum = 13;
    Time now = seconds(1);
    movement.heard(1, first, now);
    movement.heard(1, second, now);
    for (int k = 0; k < 3; ++k) {
        movement.heard(1, first, now += seconds(1));
        movement.heard(1, second, now += seconds(1));
    }
    CHECK(movement.of(1) == seconds(1));
    second.vote.cut_blocks = 1;
    movement.heard(1, second, now);
    CHECK(movement.of(1) == now);
    CHECK(movement.quiet(now) == Time{0});
    first.rows[0].map_checksum = 14;
    movement.heard(1, first, now += seconds(1));
    CHECK(movement.of(1) == now);
}

}  // namespace ako::two_processes_move_nothing_test
