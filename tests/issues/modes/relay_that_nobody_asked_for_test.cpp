// A member of a run could put any values into the row of another that lives and trains: it had only
// to pass on a block of it with a version newer than the owner's own, marked as relayed. Since then
// a row is taken of its owner, and of others only what was asked of them.
#include <doctest/doctest.h>

#include "tests/unit/modes/ako_compute_bench.h"

namespace ako::relay_that_nobody_asked_for_test {

using namespace ako::compute_bench;

TEST_CASE("a row that is passed on is taken from whom it was asked of") {
    Bench bench(3);
    for (const PeerIndex other : {1u, 2u}) bench.come(other);
    bench.hear(1, 1, 3, 5);
    bench.round();
    REQUIRE(bench.peer->rows().ledger().version(1, 0) == Version{1, 3});

    const auto pass_on = [&bench](PeerIndex from) {
        Partial partial{1, {1, 8}, {0, 1}, Time{0}, true, {}};
        PooledBuffer payload = std::move(*bench.pool.take(4 * sizeof(float)));
        for (float& element : payload.floats()) element = 9;
        partial.checksums = {crc32c(std::span<const float>(payload.floats()))};
        bench.mailbox.push({from, partial, std::move(payload), bench.now});
        bench.begin();
    };
    pass_on(2);
    CHECK(bench.peer->rows().ledger().version(1, 0) == Version{1, 3});
    CHECK(bench.peer->rows().ledger().values(1)[0] == 5);
    CHECK(bench.pool.bytes_lent() == 0);
    bench.outbox.send(2, Want{2, false, {}});  // of another row
    pass_on(2);
    CHECK(bench.peer->rows().ledger().version(1, 0) == Version{1, 3});
    bench.outbox.send(2, Want{1, false, {{{0, 1}, {1, 3}}}});
    pass_on(2);
    CHECK(bench.peer->rows().ledger().version(1, 0) == Version{1, 8});
}

}  // namespace ako::relay_that_nobody_asked_for_test
