// Which blocks of a row a peer keeps in its checkpoints: of its own row all, and of the others' so
// many that a minority of disks may be lost and every block is on one that is left. The owner and
// `copies` others keep each block; a row is cut into as many stripes as there are others, and each
// other keeps `copies` stripes that follow one another, beginning with a stripe of its own. A
// value; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ako/row_index.h"
#include "ako/types.h"

namespace ako {

class RowCopies {
  public:
    RowCopies(std::size_t peer_count, BlockIndex block_count)
        : others_(peer_count - 1), block_count_(block_count) {}

    /// So many others keep each block. Of two peers each keeps all.
    std::size_t copies() const { return std::max<std::size_t>(1, others_ / 2); }

    bool keeps(PeerIndex peer, RowIndex row, BlockIndex block) const {
        const PeerIndex owner = owner_of(row);
        if (peer == owner) return true;
        const std::size_t peer_count = others_ + 1;
        const std::size_t place = (peer + peer_count - owner) % peer_count - 1;
        const std::size_t stripe = std::size_t{block} * others_ / block_count_;
        return (stripe + others_ - place) % others_ < copies();
    }

    /// So many blocks of a row.
    std::size_t kept_of(PeerIndex peer, RowIndex row) const {
        std::size_t kept = 0;
        for (BlockIndex block = 0; block < block_count_; ++block) kept += keeps(peer, row, block);
        return kept;
    }

  private:
    std::size_t others_;
    BlockIndex block_count_;
};

}  // namespace ako
