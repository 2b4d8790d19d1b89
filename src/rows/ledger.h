// The ledger: one row per peer, as far as it is known here. Only peer i writes row i; everyone else
// holds the newest copy received. Rows are totals, so a message that is lost, repeated, reordered
// or skipped costs nothing: the next one brings everything (a state-based CRDT; Shapiro et al.,
// 2011). The own row is kept like any other until this process claims it: what an earlier one made
// of it is with the others.
//
// Per block the newer version wins, with one exception. Two processes may have begun the row of one
// name at zero, in two halves of a network: then each row has what the other lacks, and none takes
// the place of the other until its owner has added them up (src/rows/joining.h) and claims the sum.
// Compute thread only.
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

    /// The own row is a snapshot that the caller keeps in place until the next `set_own` or
    /// `detach_own`.
    void set_own(const Snapshot& snapshot);

    /// From now on the own row is kept like any other, as it is before the first `set_own`.
    void detach_own();
    /// These blocks of the own row, which are all that is held of how it was begun, are zero again.
    /// Not while it is a snapshot.
    void clear_begun(const std::vector<BlockIndex>& blocks);

    /// A row as it stands here, [parameter_count]; all zeros at version {0, 0}.
    std::span<const float> values(RowIndex row) const;
    std::span<const float> block(RowIndex row, BlockIndex block) const;
    Version version(RowIndex row, BlockIndex block) const;
    std::uint32_t checksum(RowIndex row, BlockIndex block) const;

    /// All rows in order, for `compute_anchor`.
    std::vector<std::span<const float>> rows() const;

    /// The versions of all blocks of a row, as runs.
    std::vector<VersionRun> versions(RowIndex row) const;

    /// The incarnation in which the row was begun at zero, if blocks of that are held; 0: none.
    Incarnation begun(RowIndex row) const { return rows_[row].begun; }
    /// Was the row begun at zero in this incarnation, and what is held of it in another one?
    bool begun_apart(RowIndex row, Incarnation incarnation) const;
    /// Would a block of this version take the place of the one that is held?
    bool takes(RowIndex row, BlockIndex block, Version version) const {
        return !is_snapshot(row) && version > this->version(row, block) &&
               !begun_apart(row, version.incarnation);
    }
    /// Is this block, of this version, to be taken? Only the version decides between old and new.
    BlockCheck check(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
                     std::uint32_t checksum) const;

    /// `good` if the block is what its owner made and can be of a row, whatever is held.
    static BlockCheck inspect(std::span<const float> values, std::uint32_t checksum);

    /// Takes a block that was found good. Not for the own row while it is a snapshot.
    void replace(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
                 std::uint32_t checksum);

    /// Takes a block of the agreed cut, whose version may be lower than the one held: the only way
    /// a version ever falls. Not for the own row while it is a snapshot.
    void adopt(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
               std::uint32_t checksum);

    /// Lowest and highest version of a row and a checksum of its whole version map.
    RowHeld held(RowIndex row) const;

  private:
    struct Row {
        std::vector<float> values;             ///< [parameter_count]
        std::vector<Version> versions;         ///< [block count]
        std::vector<std::uint32_t> checksums;  ///< [block count]
        Incarnation begun = 0;                 ///< at zero, of blocks held; 0 = none
        mutable RowHeld held;                  ///< valid while not `held_stale`
        mutable bool held_stale = true;
    };

    bool is_snapshot(RowIndex row) const { return row == own_row_ && snapshot_ != nullptr; }
    void make_zero(Row& row) const;
    void write(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
               std::uint32_t checksum);

    const RowIndex own_row_;
    const Blocks blocks_;
    PerRow<Row> rows_;                    ///< that of the own row is empty while it is a snapshot
    const Snapshot* snapshot_ = nullptr;  ///< the own row; null: it is kept like any other
};

}  // namespace ako
