// A peer that was started again, and had no vote yet, was taken for one that takes in the row of an
// earlier life: its blocks had come up to round 15, and its newest Status told of round 14. So the
// other proposed a cut without its last rounds (simulate, seed 100216).
#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/agreement/finish_bench.h"

namespace ako::final_round_behind_its_blocks_test {

using namespace ako::test;

TEST_CASE("issue: blocks that run ahead of a Status do not cost a later life its final round") {
    const std::vector<float> values(4, 1.0F);
    Bench bench;
    for (const BlockIndex block : {0u, 1u})
        bench.ledger.replace(0, block, {2, 15}, values, crc32c(std::span<const float>(values)));
    Status ended = status_of_a_peer();
    ended.standing.final_round = 0;
    ended.rows[0] = bench.ledger.held(0);
    bench.roster.heard_status(2, ended, bench.now, 1);
    Status trains = status_of_a_peer();
    trains.vote.has_vote = false;
    trains.rows[0].highest = trains.rows[0].lowest = {2, 14};
    bench.roster.heard_status(0, trains, bench.now, 1);
    bench.finish.step(bench.now);
    CHECK(bench.sent<Prepare>(2).empty());

    trains.standing.final_round = 15;
    trains.rows[0] = bench.ledger.held(0);
    bench.roster.heard_status(0, trains, bench.now, 1);
    bench.finish.step(bench.now);
    CHECK(!bench.sent<Prepare>(2).empty());
}

}  // namespace ako::final_round_behind_its_blocks_test
