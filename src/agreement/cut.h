// A cut: the version of every block of every row that all who finish together end with; and the
// blocks of it that differ from the ledger. Compute thread only.
#pragma once

#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "ako/blocks.h"
#include "ako/frame.h"
#include "ako/types.h"
#include "src/rows/ledger.h"

namespace ako {

/// The version map of one cut; arrives row by row.
class CutMap {
  public:
    CutMap(std::size_t row_count, BlockIndex block_count)
        : block_count_(block_count), rows_(row_count) {}

    /// What the ledger holds now.
    static CutMap of(const Ledger& ledger);

    /// Takes a row whose runs cover the whole vector; false (and unchanged) if they do not.
    bool set_row(RowIndex row, const std::vector<VersionRun>& runs);
    bool knows(RowIndex row) const { return !rows_[row].empty(); }
    std::vector<VersionRun> runs(RowIndex row) const;
    bool complete() const;
    Version version(RowIndex row, BlockIndex block) const { return rows_[row][block]; }
    /// REQUIRES: the row is known.
    void set_version(RowIndex row, BlockIndex block, Version version) {
        rows_[row][block] = version;
    }

  private:
    BlockIndex block_count_;
    PerRow<std::vector<Version>> rows_;  ///< of each [block count]; empty = not yet known
};

/// Blocks held beside the ledger because their version differs from the one there. A place may
/// have several, for cuts that compete: what was accepted stays held until one is decided. Mostly
/// it has one, so that all of them are about as large as the rows.
class CutStore {
  public:
    struct Block {
        std::vector<float> values;
        std::uint32_t checksum = 0;
    };

    void put(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
             std::uint32_t checksum) {
        blocks_[{row, block, version}] = {{values.begin(), values.end()}, checksum};
    }
    /// Null if that version is not here.
    const Block* find(RowIndex row, BlockIndex block, Version version) const {
        const auto found = blocks_.find({row, block, version});
        return found != blocks_.end() ? &found->second : nullptr;
    }
    void clear() { blocks_.clear(); }
    /// Forgets every version of this place for which `needed` is false.
    template <class Needed>
    void keep_only_of(RowIndex row, BlockIndex block, Needed needed) {
        auto it = blocks_.lower_bound({row, block, Version{}});
        while (it != blocks_.end() && std::get<0>(it->first) == row &&
               std::get<1>(it->first) == block)
            it = needed(std::get<2>(it->first)) ? std::next(it) : blocks_.erase(it);
    }
    /// Forgets every block for whose place and version `needed` is false.
    template <class Needed>
    void keep_only(Needed needed) {
        std::erase_if(blocks_, [&](const auto& block) { return !std::apply(needed, block.first); });
    }

  private:
    std::map<std::tuple<RowIndex, BlockIndex, Version>, Block> blocks_;
};

}  // namespace ako
