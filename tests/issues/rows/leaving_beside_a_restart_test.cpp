// A peer that was leaving went when the other's process had just been started again: the newest
// Status, by which all was handed over, was of the process before. So the new one found nobody who
// held its row (simulate, seed 209421).
#include <doctest/doctest.h>

#include <chrono>

#include "src/numbers/checksum.h"
#include "src/rows/leaving.h"
#include "src/rows/snapshots.h"

namespace ako::leaving_beside_a_restart_test {

TEST_CASE("issue: who leaves waits for the word of a process that has just come") {
    using std::chrono::seconds;
    constexpr PeerIndex self = 0, other = 1;
    const Blocks blocks{8, 4};
    Snapshots own(blocks);
    own[0].version = {1, 3};
    Ledger ledger{self, 2, blocks};
    ledger.set_own(own[0]);
    Roster roster{self, 2};
    roster.set_own(3, 3);
    Time now = seconds(100);
    Status status;
    status.standing.progress.resize(2);
    status.rows.resize(2);
    for (const RowIndex row : ledger.all()) status.rows[row] = ledger.held(row);
    roster.set_presence(other, Presence::up);
    roster.heard_status(other, status, now, 3);

    Leaving leaving(ledger, roster, seconds(2), seconds(25), now);
    CHECK(!leaving.step(now));  // too few would stay: for a while others may say that they go too
    now += seconds(1);
    roster.set_presence(other, Presence::down);
    roster.set_presence(other, Presence::up);
    now += seconds(2);
    CHECK(!leaving.step(now));

    roster.begin_session(other, true);
    Status anew = status;
    for (const RowIndex row : ledger.all()) anew.rows[row] = {};
    anew.start.joining = true;
    roster.heard_status(other, anew, now, 3);
    CHECK(!leaving.step(now));
    roster.heard_status(other, status, now, 3);
    CHECK(leaving.step(now));
    CHECK(leaving.handed_to() == peer_bit(other));
}

}  // namespace ako::leaving_beside_a_restart_test
