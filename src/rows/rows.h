// All that this peer knows of the rows, and the parameters that follow from them: the ledger, the
// own row with its snapshots and its rounding carry, and the replica with its stand-ins. What
// belongs together changes together: by `claim` (the own row is this process's from now on), `add`
// (an own round), `take` (a block that came), `stand_in` (a peer that advances, or does not any
// more), `give_way` (a peer that trained apart is back). At the end `open_for_cut` gives the ledger
// to the final exchange, which writes the agreed version of every block there. Compute thread only.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ako/blocks.h"
#include "ako/checkpoint.h"
#include "ako/row_index.h"
#include "ako/threads.h"
#include "ako/types.h"
#include "src/rows/ledger.h"
#include "src/rows/outbox.h"
#include "src/rows/own_past.h"
#include "src/rows/own_row.h"
#include "src/rows/replica.h"
#include "src/rows/snapshots.h"

namespace ako {

class Rows {
  public:
    /// Writes what an own round adds on this range to `update`, [range.count].
    using MakeUpdate = std::function<void(Range range, std::span<float> update)>;

    /// `initial` is [parameter_count]; all references outlive this.
    Rows(PeerIndex self, std::size_t peer_count, const Blocks& blocks,
         std::span<const float> initial, Outbox& outbox, Snapshots& snapshots,
         Precision precision = Precision::float32) AKO_COMPUTE_THREAD;

    const Ledger& ledger() const { return ledger_; }
    const Replica& replica() const { return replica_; }
    Precision precision() const { return own_row_.precision(); }
    /// What rounding has cut off of the own row so far, [parameter_count].
    std::span<const float> carry() const { return own_row_.carry(); }
    /// The parameters that all peers agree on, as far as known here; `out` is [parameter_count].
    void copy_anchor(std::span<float> out) const;

    /// A mark of a peer that keeps step, for each waits for the other, is the own row after the
    /// same round: this peer has made so many more of them than that one; nothing: of another,
    /// which makes rounds at a pace of its own, it is the own row as it was when its block was
    /// sealed.
    void keep_step(PeerIndex peer, std::optional<std::int64_t> ahead) { ahead_[peer] = ahead; }

    /// Puts those blocks in that this peer keeps (row_copies.h), as they are held, each with its
    /// version and its owner's checksum, and the carry.
    void save(Checkpoint& out) const;
    /// Takes the rows in again, the own one like any other. Before anything else; after an error
    /// they mean nothing.
    Result<void> restore(const Checkpoint& from) AKO_COMPUTE_THREAD;

    /// From now on this process alone writes the own row: it goes on from what is held of it, and
    /// of what was set aside, as from its round `round` in this incarnation. Round 0: from zero.
    /// The carry died with the process that made the row; it is taken up only for blocks that are
    /// still as a checkpoint had them.
    void claim(Incarnation incarnation, Round round, Time now) AKO_COMPUTE_THREAD;
    bool claimed() const { return current_.has_value(); }
    /// 0 before the first claim.
    Incarnation incarnation() const { return incarnation_; }
    /// Another process writes the own row: it is taken like any other until the next claim, and
    /// nobody is stood in for.
    void disclaim() AKO_COMPUTE_THREAD;
    /// These blocks of the own row are of one of several rows of its name that were begun at zero:
    /// they are kept until the next claim, which adds them, and are zero again.
    void set_aside(const std::vector<BlockIndex>& blocks) AKO_COMPUTE_THREAD;

    /// Adds round `round`, block by block, to the own row and the replica, and posts the new
    /// snapshot. False if a total is not finite or beyond the bounds of a row: then nothing of it
    /// is posted, the training has diverged, and nothing more can be added.
    bool add(Round round, const MakeUpdate& make_update, Time now) AKO_COMPUTE_THREAD;

    /// The same of the blocks from `first` on alone, while the rest of the round is still being
    /// made: they are posted at once. `add` adds what is left of the same round.
    bool add_early(Round round, BlockIndex first, const MakeUpdate& make_update,
                   Time now) AKO_COMPUTE_THREAD;
    /// Blocks before this one are not added yet, of the round that is being made.
    BlockIndex left_to_add() const { return next_ ? next_from_ : ledger_.blocks().count(); }

    /// Takes a block, of the own row only until it is claimed, if it is newer than what is held,
    /// intact and within bounds. `sealed_at`: when its owner published it, by this peer's clock;
    /// only for what the owner itself sent, which may move a mark.
    BlockCheck take(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
                    std::uint32_t checksum, const std::optional<Time>& sealed_at,
                    Time now) AKO_COMPUTE_THREAD;

    /// From now on own progress stands in for this peer, or does not any more.
    void stand_in(PeerIndex peer, bool stands_in, Time now) AKO_COMPUTE_THREAD;

    /// Own growth that gives way to a peer's: see replica.h.
    struct GivesWay {
        PeerIndex peer = 0;
        double share = 0;  ///< of the own growth
        Round before = 0;  ///< round of the peer, beyond which its blocks were made meanwhile
        Round since = 0;   ///< own round after which the growth began
        bool advances = false;
    };
    /// `peer`, which trained apart from its round `before` on, is back: with the next `add` this
    /// share of what the own row grew by meanwhile leaves it. False if it was not apart, as far as
    /// rows tell.
    bool give_way(PeerIndex peer, double share, Round before) AKO_COMPUTE_THREAD;
    /// Something does with the next `add`.
    bool gives_way() const { return !gives_way_.empty(); }
    /// `peer` is heard of through others, and so it is not apart, although not stood in for.
    void heard_of(PeerIndex peer) AKO_COMPUTE_THREAD;
    /// In the order in which it did, with the newest `add`.
    const std::vector<GivesWay>& gave_way() const { return gave_way_; }

    /// For the blocks of the agreed cut, which may be older than what is held. After that nothing
    /// is added or taken any more, and the replica is not kept.
    Ledger& open_for_cut() AKO_COMPUTE_THREAD;

    /// When the oldest block that is held of this row was sealed; 0 = not known.
    Time oldest_seal(RowIndex row) const;

    /// For tests: what is being written, from `left_to_add` on.
    const Snapshot* growing() const { return next_ ? &snapshots_[*next_] : nullptr; }

  private:
    bool add_blocks(Round round, BlockIndex first,
                    const MakeUpdate& make_update) AKO_COMPUTE_THREAD;
    /// The own round that goes with this one of a peer that keeps step.
    Round own_round(PeerIndex peer, Round theirs) const {
        const auto own = static_cast<std::int64_t>(theirs) + *ahead_[peer];
        return own > 0 ? static_cast<Round>(own) : 0;
    }
    /// Of peers whose block contains this round already.
    void keep_marks_up(Round round, BlockIndex block,
                       std::span<const float> difference) AKO_COMPUTE_THREAD;
    /// What gives way on this block goes out of `update` too, and is returned; empty if nothing
    /// does.
    std::span<const float> take_out(BlockIndex block, std::span<float> update) AKO_COMPUTE_THREAD;
    /// The own row, as the checkpoint had it.
    struct Restored {
        std::vector<Version> versions;  ///< [block count]; empty: there was none
        std::vector<float> carry;       ///< [parameter_count]
    };
    void save(RowIndex row, Checkpoint& out) const;
    Result<void> restore(RowIndex row, const Checkpoint& from) AKO_COMPUTE_THREAD;
    /// [block count]; {} of a block that the checkpoint does not have.
    Result<std::vector<Version>> kept_versions(RowIndex row, const Checkpoint& from) const;
    void take_up_carry();

    Outbox& outbox_;
    Snapshots& snapshots_;
    const std::span<const float> initial_;
    Ledger ledger_;
    Replica replica_;
    OwnRow own_row_;
    OwnPast own_past_;
    /// [peer_count], own rounds less those of a peer that keeps step, when they are level.
    std::vector<std::optional<std::int64_t>> ahead_;
    Incarnation incarnation_ = 0;
    std::optional<SnapshotIndex> current_;  ///< the own row, while it is claimed
    std::optional<SnapshotIndex> next_;     ///< the own row after the round that is being made
    BlockIndex next_from_ = 0;              ///< it has the blocks from here on
    std::vector<float> aside_;              ///< [parameter_count]; empty: nothing
    Restored restored_;                     ///< until the claim
    bool open_for_cut_ = false;
    bool current_posted_ = false;          ///< the traffic half knows it, and will give it back
    std::vector<float> update_;            ///< one block
    std::vector<float> difference_;        ///< one block
    std::vector<float> giving_;            ///< one block
    std::vector<GivesWay> gives_way_;      ///< with the next `add`
    std::vector<GivesWay> gave_way_;       ///< with the newest
    PerRow<std::vector<Time>> sealed_at_;  ///< of each [block count], our clock; of what is held
};

}  // namespace ako
