// The ledger: one row per peer, as far as it is known here. Only peer i writes row i; everyone else
// holds the newest copy received. Rows are totals, so a message that is lost, repeated, reordered
// or skipped costs nothing: the next one brings everything (a state-based CRDT; Shapiro et al.,
// 2011). Compute thread only.
#pragma once

#include <span>
#include <vector>

#include "ako/blocks.h"
#include "ako/frame.h"
#include "ako/types.h"
#include "src/rows/snapshots.h"

namespace ako {

/// What a look at a block that came has shown.
enum class BlockCheck {
    good,      ///< to be taken
    late,      ///< not newer; not an error
    damaged,   ///< its bytes do not match its owner's checksum
    diverged,  ///< it holds what is not finite, or too large for a row
};

/// A block of one version, as its owner made it; empty if it is not held.
struct HeldBlock {
    std::span<const float> values;
    std::uint32_t checksum = 0;
};

class Ledger {
  public:
    Ledger(PeerIndex self, std::size_t peer_count, const Blocks& blocks);

    /// The row of this peer.
    RowIndex own() const { return own_row_; }
    /// As many as peers.
    std::size_t row_count() const { return rows_.size(); }
    AllRows all() const { return AllRows(rows_.size()); }
    const Blocks& blocks() const { return blocks_; }

    /// The own row is a snapshot that the caller keeps in place until the next `set_own`.
    void set_own(const Snapshot& snapshot);

    /// From now on the own row is kept like any other, so that the cut may replace blocks of it.
    /// Call once, after the last `set_own`.
    void detach_own();

    /// A row as it stands here, [parameter_count]; all zeros at version {0, 0}.
    std::span<const float> values(RowIndex row) const;
    std::span<const float> block(RowIndex row, BlockIndex block) const;
    Version version(RowIndex row, BlockIndex block) const;
    std::uint32_t checksum(RowIndex row, BlockIndex block) const;

    /// All rows in order, for `compute_anchor`.
    std::vector<std::span<const float>> rows() const;

    /// Is this block, of this version, to be taken? Only the version decides between old and new.
    BlockCheck check(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
                     std::uint32_t checksum) const;

    /// `good` if the block is what its owner made and can be of a row, whatever is held.
    static BlockCheck inspect(std::span<const float> values, std::uint32_t checksum);

    /// Takes a block that was found good. Not for the own row.
    void replace(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
                 std::uint32_t checksum);

    /// Takes a block of the agreed cut, whose version may be lower than the one held: the only way
    /// a version ever falls. For the own row only after `detach_own`.
    void adopt(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
               std::uint32_t checksum);

    /// Lowest and highest version of a row and a checksum of its whole version map.
    RowHeld held(RowIndex row) const;

  private:
    struct Row {
        std::vector<float> values;             ///< [parameter_count]
        std::vector<Version> versions;         ///< [block count]
        std::vector<std::uint32_t> checksums;  ///< [block count]
        mutable RowHeld held;                  ///< valid while not `held_stale`
        mutable bool held_stale = true;
    };

    bool is_snapshot(RowIndex row) const { return row == own_row_ && snapshot_ != nullptr; }
    void write(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
               std::uint32_t checksum);

    const RowIndex own_row_;
    const Blocks blocks_;
    PerRow<Row> rows_;                    ///< that of the own row is empty until it is detached
    const Snapshot* snapshot_ = nullptr;  ///< the own row; null before `set_own`, once detached
};

}  // namespace ako
