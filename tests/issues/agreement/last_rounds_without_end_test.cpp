// In the final exchange a peer keeps what an owner says is its last round, beside the rows. One
// that said another last round each time, with blocks of it, filled the memory of all others, as
// fast as its links were, for as long as the final exchange took. Since then of each place only
// what may be part of a cut stays.
#include <doctest/doctest.h>

#include <vector>

#include "src/agreement/cut_puller.h"
#include "src/numbers/checksum.h"

namespace ako::last_rounds_without_end_test {

TEST_CASE("of last rounds that follow each other only the newest is kept") {
    const Blocks blocks(10, 4);
    const Ledger ledger(0, 2, blocks);
    Roster roster(0, 2);
    roster.set_presence(1, Presence::up);
    CutPuller cut(ledger, roster, [](PeerIndex, Header) {});
    const std::vector<float> values(4, 1);
    const auto end_with = [&](Round round) {
        Status status;
        status.standing.progress.resize(2);
        status.rows.resize(2);
        status.rows[1].highest = {1, round};
        status.standing.final_round = round;
        roster.heard_status(1, status, Time{0}, 1);
        REQUIRE(cut.is_final(1, {1, round}));
        for (const BlockIndex block : {0u, 1u})
            cut.put(1, block, {1, round}, values, crc32c(std::span<const float>(values)));
    };
    end_with(5);
    CHECK(cut.holds(1, 0, {1, 5}));
    end_with(7);
    CHECK(cut.holds(1, 0, {1, 7}));
    CHECK(cut.holds(1, 1, {1, 7}));
    CHECK(!cut.holds(1, 0, {1, 5}));
    CHECK(!cut.holds(1, 1, {1, 5}));

    SUBCASE("what a cut names stays") {
        cut.make_map({1, 0});
        end_with(9);
        CHECK(cut.holds(1, 0, {1, 9}));
        CHECK(cut.holds(1, 0, {1, 7}));
    }
}

}  // namespace ako::last_rounds_without_end_test
