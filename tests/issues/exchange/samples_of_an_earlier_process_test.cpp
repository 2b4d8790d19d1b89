// A peer was started again and began apart, because whom it met first knew nothing of its earlier
// process. At the end it reported as its samples only what this process had used, while all others
// counted the earlier one too (simulate, seed 211410).
#include <doctest/doctest.h>

#include <chrono>

#include "src/exchange/roster.h"

namespace ako::samples_of_an_earlier_process_test {

TEST_CASE("issue: what an earlier process used is reported also by one that has begun apart") {
    constexpr PeerIndex self = 1, other = 0;
    Roster roster(self, 3);
    roster.set_presence(other, Presence::up);
    roster.set_own(0, 0);
    CHECK(roster.samples_by_all(self) == 0);
    Status status;
    status.standing.progress = {{50, 50}, {43, 43}, {}};
    status.rows.resize(3);
    roster.heard_status(other, status, std::chrono::seconds(1), 0);
    CHECK(roster.samples_by_all(self) == 43);
    CHECK(roster.progress()[self].round == 0);  // what it says of its own rounds is its own
    CHECK(roster.samples_by_all(other) == 50);
    roster.set_own(60, 60);
    CHECK(roster.samples_by_all(self) == 60);
}

}  // namespace ako::samples_of_an_earlier_process_test
