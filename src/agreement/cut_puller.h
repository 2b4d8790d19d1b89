// What one peer knows and holds of the cuts under way: their version maps, the blocks that are kept
// beside the ledger, and the pulling of what one of them lacks. Which cut that is, and what becomes
// of it, Voter and Finish decide. Compute thread only.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ako/frame.h"
#include "src/agreement/cut.h"
#include "src/exchange/roster.h"
#include "src/rows/ledger.h"
#include "src/rows/puller.h"

namespace ako {

class CutPuller {
  public:
    using Send = std::function<void(PeerIndex, Header)>;
    /// Version maps that are kept: of the cut that is proposed, pending, accepted and decided. In
    /// bytes, at most four times 16 for each block of each row.
    static constexpr std::size_t maps_max = 4;

    /// Both outlive this.
    CutPuller(const Ledger& ledger, const Roster& roster, Send send);

    /// From now on what is held must stay held: the caller changes the ledger no more, and keeps
    /// what comes beside it, with `put`.
    void freeze() { frozen_ = true; }
    bool frozen() const { return frozen_; }

    // ---- version maps
    /// The map of an own proposal: what the ledger holds now, and of final rounds what lies beside
    /// it.
    void make_map(CutId cut);
    void send_map(PeerIndex to, CutId cut) const;
    /// Takes a row of the map of the cut that is pulled; false if it says nothing new.
    bool take_row(const CutRow& row, Time now);
    /// Forgets all other maps, and the blocks that only they name.
    void keep_maps(std::initializer_list<CutId> cuts);

    // ---- blocks
    bool holds(RowIndex row, BlockIndex block, Version version) const;
    /// A block of exactly this version, from the ledger or from beside it; empty if it is not held.
    HeldBlock find(RowIndex row, BlockIndex block, Version version) const;
    /// Is every block of the row held in this version?
    bool holds_row(RowIndex row, Version version) const;
    /// Is it the version of the round that the owner of the row has ended with?
    bool is_final(RowIndex row, Version version) const;
    bool names(CutId cut, RowIndex row, BlockIndex block, Version version) const;
    /// Keeps a block beside the ledger.
    void put(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
             std::uint32_t checksum);
    /// The ledger has taken something: what is lacking is counted again.
    void ledger_changed() { count_again_ = true; }

    // ---- pulling
    /// True once every block of the cut is held; asks for those that are not.
    bool pull(CutId cut, PeerSet proposers, Time now);
    /// The next question for the map needs no wait: somebody who holds it has just spoken.
    void ask_for_map_again() { map_asked_at_.reset(); }
    /// Partials and answers, whatever became of them.
    void arrived(PeerIndex from, const Partial& partial, Time at);
    void lacks(PeerIndex from, const Lack& lack, Time now) { puller_.lacks(from, lack, now); }
    void forget_asked(PeerIndex holder) {
        puller_.forget_asked(holder);
        if (holder == map_asked_of_) ask_for_map_again();
    }
    /// Blocks held of the cut that is pulled; 0 before its map is known.
    std::uint32_t held() const;
    /// Blocks lacking of each row; empty before the map is known.
    const PerRow<BlockIndex>& lacking() const { return lacking_; }
    /// Blocks of one row per second, lately from this peer; 0 = not known.
    double rate(PeerIndex from) const { return puller_.rate(from); }
    BlockIndex block_count() const { return ledger_.blocks().count(); }

    /// Puts the cut, which is held, into the ledger, whose own row is detached.
    void adopt(CutId cut, Ledger& ledger);

  private:
    const CutMap* map_of(CutId cut) const;
    /// It may be part of what is decided.
    bool needed(RowIndex row, BlockIndex block, Version version) const;
    void ask_for_map(CutId cut, PeerSet holders, Time now);
    PeerSet holders_of(CutId cut, PeerSet proposers) const;
    bool streams(RowIndex row, Version version) const;
    void count(const CutMap& map);
    /// The row that everybody starts with need not be asked for.
    void make_zeros(RowIndex row, BlockIndex block);

    const Ledger& ledger_;
    const Roster& roster_;
    const Send send_;

    std::map<CutId, CutMap> maps_;
    CutStore store_;
    Puller puller_;
    CutId pulled_;
    PerRow<BlockIndex> lacking_;
    BlockIndex lacking_sum_ = 0;
    bool count_again_ = true;
    bool frozen_ = false;
    std::optional<Time> map_asked_at_;
    PeerSet map_asked_ = 0;
    PeerIndex map_asked_of_ = 0;  ///< last
};

}  // namespace ako
