// Who measures with whom, and when.
#include "src/probe/turns.h"

#include <doctest/doctest.h>

#include <set>
#include <utility>

namespace ako::turns_test {

TEST_CASE("every pair has one turn, and every peer one partner in it") {
    for (std::size_t peers = 1; peers <= 16; ++peers) {
        CAPTURE(peers);
        std::set<std::pair<PeerIndex, PeerIndex>> met;
        for (std::uint32_t turn = 1; turn <= turn_count(peers); ++turn) {
            for (PeerIndex peer = 0; peer < peers; ++peer) {
                const auto partner = partner_in(turn, peer, peers);
                if (!partner) {
                    CHECK(peers % 2 == 1);
                    continue;
                }
                CHECK(*partner != peer);
                CHECK(partner_in(turn, *partner, peers) == peer);
                if (peer < *partner) CHECK(met.insert({peer, *partner}).second);
            }
        }
        CHECK(met.size() == peers * (peers - 1) / 2);
    }
}

}  // namespace ako::turns_test
