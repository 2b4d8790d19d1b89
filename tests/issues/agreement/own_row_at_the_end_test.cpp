// A peer that was started again near the end heard of the stop before it had taken in the row of
// its earlier life, had its vote back and proposed a cut at once: without rounds of its own row
// that another still held (simulate, seed 225605).
#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/agreement/finish_bench.h"

namespace ako::own_row_at_the_end_test {

using namespace ako::test;

TEST_CASE("issue: who lacks blocks of its own row does not propose the first cut at once") {
    for (const bool lacks : {false, true}) {
        Bench bench;
        Status status = status_of_a_peer();
        status.standing.final_round = 0;
        status.vote.has_vote = false;  // so that this peer is the first to propose
        bench.roster.heard_status(0, status, bench.now, 1);
        if (lacks) status.rows[1].highest = {1, 9};
        status.vote.has_vote = true;
        bench.roster.heard_status(2, status, bench.now, 1);
        bench.finish.step(bench.now);
        CHECK(bench.sent<Prepare>(2).empty() == lacks);
        bench.now += seconds(300);
        bench.finish.step(bench.now);
        CHECK(!bench.sent<Prepare>(2).empty());  // after finish_exchange it does
    }
}

}  // namespace ako::own_row_at_the_end_test
