// Snapshots: the memory of a peer's own row. The newest snapshot *is* the row; a round writes the
// next one beside it, so that links go on reading the old one without a lock.
//
// Six are enough: the network thread holds at most two (of the newest it took, one that links still
// send from, and the one being written, of which it reads the blocks that were posted; others it
// gives back at once, copying what is unsent aside), one may wait in the outbox, one is being
// written, and two before the newest are kept to be looked up (OwnPast). The compute thread writes
// a snapshot only between `Outbox::spare` and `Outbox::post`, and no block of it that was posted
// before (`post_part`); all others are read-only. Outbox counts how many hold each.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ako/blocks.h"
#include "ako/types.h"
#include "src/numbers/checksum.h"

namespace ako {

/// The newest one and those that are kept before it.
inline constexpr std::size_t past_snapshots = 3;
inline constexpr std::size_t snapshot_count = 3 + past_snapshots;

/// An immutable copy of this peer's own row after some round.
struct Snapshot {
    std::vector<float> values;             ///< [parameter_count]
    std::vector<std::uint32_t> checksums;  ///< CRC-32C of each block
    Version version;                       ///< the same of all blocks
    Time sealed_at{};                      ///< when it was published
};

/// By place; `Snapshots` is allocated once.
using SnapshotIndex = std::uint32_t;

class Snapshots {
  public:
    explicit Snapshots(const Blocks& blocks) {
        for (Snapshot& snapshot : all_) {
            snapshot.values.assign(blocks.element_count(), 0.0f);
            for (BlockIndex block = 0; block < blocks.count(); ++block) {
                const Range range = blocks.range(block);
                snapshot.checksums.push_back(crc32c(
                    std::span(std::as_const(snapshot.values)).subspan(range.first, range.count)));
            }
        }
    }

    Snapshot& operator[](SnapshotIndex index) { return all_[index]; }
    const Snapshot& operator[](SnapshotIndex index) const { return all_[index]; }

  private:
    std::array<Snapshot, snapshot_count> all_;
};

}  // namespace ako
