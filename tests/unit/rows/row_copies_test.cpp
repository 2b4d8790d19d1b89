// Every block of every row is on the disks of more peers than a minority, and no disk has more than
// its part.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "src/rows/row_copies.h"

namespace ako::row_copies_test {

TEST_CASE("any minority of disks may be lost, and each has its part") {
    for (std::size_t peers = 2; peers <= 9; ++peers) {
        for (const BlockIndex blocks : {BlockIndex{1}, BlockIndex{3}, BlockIndex{840}}) {
            const RowCopies copies(peers, blocks);
            const std::size_t minority = (peers - 1) / 2;
            const std::size_t least = std::max<std::size_t>(minority + 1, 2);
            std::vector<std::size_t> of_peer(peers);
            for (const RowIndex row : AllRows(peers)) {
                CHECK(copies.keeps(owner_of(row), row, 0));
                for (BlockIndex block = 0; block < blocks; ++block) {
                    std::size_t disks = 0;
                    for (PeerIndex peer = 0; peer < peers; ++peer) {
                        disks += copies.keeps(peer, row, block);
                        of_peer[peer] += copies.keeps(peer, row, block);
                    }
                    CHECK(disks == least);
                }
            }
            for (PeerIndex peer = 0; peer < peers; ++peer)
                if (blocks == 840) CHECK(of_peer[peer] == (1 + copies.copies()) * blocks);
        }
    }
    CHECK(RowCopies(8, 840).copies() == 3);
    CHECK(RowCopies(1, 840).keeps(0, row_of(0), 7));
}

}  // namespace ako::row_copies_test
