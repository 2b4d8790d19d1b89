// Every session that began put the time-out of a peer that joins off. So a peer whose link came and
// went faster than that, and over which nothing useful came, held up another that wanted to join
// for ever. Now of each peer only the first sessions do.
#include <doctest/doctest.h>

#include "src/numbers/checksum.h"
#include "src/rows/joining.h"

namespace ako::link_that_comes_and_goes_test {

TEST_CASE("issue: a link that comes and goes does not hold up who joins for ever") {
    constexpr Time timeout = std::chrono::seconds(120), apart = std::chrono::seconds(100);
    for (const bool new_process : {false, true}) {
        Ledger ledger{0, 3, Blocks{16, 4}};
        Roster roster{0, 3};
        Time now = std::chrono::seconds(100);
        Joining::Times times{};
        times.timeout = timeout;
        Joining joining{ledger, roster, [](PeerIndex, Header) {}, times};
        joining.begin(now);
        Status status;
        status.standing.progress.resize(3);
        status.rows = PerRow<RowHeld>(3);
        for (const RowIndex row : AllRows(3)) status.rows[row].highest = Version{7, 99};
        const auto session = [&] {
            roster.set_presence(1, Presence::up);
            joining.begin_session(1, new_process, now);
            roster.heard_status(1, status, now, 0);
            joining.step(now);
            for (const RowIndex row : AllRows(3)) joining.heard(1, {row, {{4, {7, 99}}}}, now);
        };
        unsigned sessions = 0;
        do {
            REQUIRE(++sessions <= Joining::sessions_counted + 1);
            session();
            now += apart;
        } while (!joining.step(now));
        CHECK(sessions == Joining::sessions_counted + 1);
        // What it brings counts, however often it came before.
        joining.begin(now);
        for (sessions = 0; sessions < 3 * Joining::sessions_counted; ++sessions) session();
        const std::vector<float> values(4, 1.0F);
        for (const BlockIndex block : {0u, 1u, 2u}) {
            CHECK_FALSE(joining.step(now));
            now += apart;
            ledger.replace(2, block, {7, 99}, values, crc32c(std::span<const float>(values)));
            joining.ledger_changed();
        }
        CHECK_FALSE(joining.step(now));
        CHECK(joining.step(now + timeout + apart));
    }
}

}  // namespace ako::link_that_comes_and_goes_test
